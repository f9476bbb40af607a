"""Predictions of applications: what each model gives at points that can be done by hand."""
