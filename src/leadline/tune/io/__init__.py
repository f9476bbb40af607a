"""Settings of HDF5, MPI-IO and file systems for a program's files."""
