"""One kind of MPI library a file; each holds `FAMILY`. Files that begin with `_` are shared by several."""
