"""Tests of the room `targets`: this machine and described ones."""
