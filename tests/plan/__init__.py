"""Tests of the room `plan`: plans and their points."""
