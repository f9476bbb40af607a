"""What everything leans on: records, units, statistics, errors, files as text."""
