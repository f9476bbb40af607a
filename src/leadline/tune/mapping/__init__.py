"""Which rank should be placed where on a machine."""
