"""Where the time of programs goes."""
