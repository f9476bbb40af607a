"""Programs recorded while they run: the preloaded library, what it wrote, and the program that this makes."""
