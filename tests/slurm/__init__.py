"""Runs under a real Slurm."""
