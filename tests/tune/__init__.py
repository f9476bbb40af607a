"""Settings and mappings that results ask for."""
