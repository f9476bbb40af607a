"""Tests of the room `core`: what everything leans on."""
