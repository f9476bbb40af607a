"""VORPAL-IO: blocks of a three-dimensional grid (Behzad et al. 2013, section 4.2).

Blocks of 100 x 100 x 60 cells, three components of 8 B, 20 steps: 288 MB a process, which is table 2's 34,
549 and 1,100 GiB. A line of a block, 60 cells, lies together; MPI-IO gathers the lines on aggregators.
"""

from leadline.tune.storage.patterns import Pattern

CELLS = 100 * 100 * 60

PATTERN = Pattern(
    question="How fast are blocks of a three-dimensional grid written, step by step?",
    datasets=20 * 3,
    share=8 * CELLS,
    run=8 * 60,
    collective=True,
)
