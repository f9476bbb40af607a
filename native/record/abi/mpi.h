/* The header of MPI 5's standard ABI, from an MPI that has both: MPICH 5's mpi.h asks for the macro. */
#ifndef MPI_ABI
#define MPI_ABI
#endif
#include_next <mpi.h>
