"""Tests of the room `machine`: described machines."""
