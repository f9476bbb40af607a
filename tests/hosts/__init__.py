"""Runs across hosts that are namespaces of this machine."""
