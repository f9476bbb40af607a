"""The native programs: built, asked what they are, and launched."""
