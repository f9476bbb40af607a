"""Programs that are recorded while they run."""
