"""Tests of the model of storage on described machines."""
