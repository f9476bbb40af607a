"""A described machine as the place where a plan is run."""
