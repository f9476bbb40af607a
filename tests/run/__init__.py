"""Tests of the room `run`: campaigns, directories of runs."""
