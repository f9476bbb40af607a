"""Guidelines: planted violations are found, and none where there is none."""
