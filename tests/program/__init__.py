"""Programs as data."""
