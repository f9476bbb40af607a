"""Leadline measures what message passing and parallel I/O really cost, and fits models to it."""

__version__ = "0.1.0"
