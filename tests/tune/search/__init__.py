"""Tests of the room that searches spaces of settings."""
