"""A plan made into records: campaigns over launches, the directory of a run, its provenance."""
