"""GCRM-IO: a semi-structured geodesic mesh (Behzad et al. 2013, section 4.2).

Table 5's chunk (1, 26, 327680) is one process's share of a variable: 26 interfaces of 25 levels, and 327,680
cells, of which 2,048 processes have 10 * 4^13, a geodesic grid. Ten such variables of 4 B make table 2's 40
and 650 GiB. HDF5's MPI-POSIX driver writes each piece by itself, past MPI-IO's collective buffers (section
5.1.2): in a contiguous dataset and in a chunk larger than the share these are the cells of one level.
"""

from leadline.tune.storage.patterns import Pattern

LEVELS = 26
CELLS = 327_680

PATTERN = Pattern(
    question="How fast does every process write its cells of a geodesic mesh by itself?",
    datasets=10,
    share=4 * LEVELS * CELLS,
    run=4 * CELLS,
    collective=False,
    row=4 * CELLS,
)
