"""Tests of the room `analysis`: what records say."""
