"""VPIC-IO: a one-dimensional array of particles (Behzad et al. 2013, section 4.2).

Eight variables of 4 B, 8 Mi particles a process: "the size of each variable is equal to 32 MB" (section 5.2).
The particles of a process are one piece of each variable, and MPI-IO writes collectively.
"""

from leadline.tune.storage.patterns import Pattern

PATTERN = Pattern(
    question="How fast is a one-dimensional particle array written, variable by variable?",
    datasets=8,
    share=4 * 2**23,
    run=4 * 2**23,
    collective=True,
)
