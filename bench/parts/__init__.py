"""What is measured, one part a file: each gives rows of what was found by `measure`."""
