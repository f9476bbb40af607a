"""Tests of the report: figures, page and command."""
