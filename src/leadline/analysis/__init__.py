"""What records say: estimates, summaries, comparisons, noise, fits, guidelines, and other suites' records."""
