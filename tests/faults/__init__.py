"""Attacks on what people rely on: damaged files, killed processes. tools/attack.py repeats them."""
