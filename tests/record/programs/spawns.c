/* The ranks start as many others, and tell them a number; all end with 0 where that worked. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank = 0, ranks = 0, number = 7;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&other);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int child = other != MPI_COMM_NULL;
    if (!child)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, ranks, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    MPI_Bcast(&number, 1, MPI_INT, child ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
