"""Tests of the room `programs`: native programs built and launched."""
