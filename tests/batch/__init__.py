"""Jobs of batch systems."""
