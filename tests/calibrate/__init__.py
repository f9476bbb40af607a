"""Tests of the room `calibrate`: machines from runs."""
