"""How each claim of a paper is computed, one group of sections a file."""
