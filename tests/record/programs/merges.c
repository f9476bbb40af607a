/* The even and the odd ranks become a group each, which are joined and merged, the odd ones first; the merged
 * communicator's rank 0 broadcasts 24 B. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank = 0;
    char data[24] = {0};
    MPI_Comm own, both, merged;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
    MPI_Intercomm_merge(both, rank % 2 == 0, &merged);
    MPI_Comm_free(&both);
    MPI_Bcast(data, sizeof data, MPI_BYTE, 0, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return 0;
}
