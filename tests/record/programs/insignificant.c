/* Arguments that mean nothing where they stand are no types and no addresses at all; in place, and not. Root 1. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char** argv) {
    int rank = 0, counts[] = {1, 2, 3}, starts[] = {0, 1, 3};
    double mine[16] = {0}, all[16] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype pair, none = (MPI_Datatype)(ptrdiff_t)0x7eadbee8;
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    void* nowhere = (void*)(ptrdiff_t)8;
    if (rank == 1) {
        MPI_Gather(mine, 1, pair, all, 1, pair, 1, MPI_COMM_WORLD);
        MPI_Scatter(all, 1, pair, mine, 1, pair, 1, MPI_COMM_WORLD);
        MPI_Gatherv(MPI_IN_PLACE, 0, none, all, counts, starts, MPI_DOUBLE, 1, MPI_COMM_WORLD);
        MPI_Scatterv(all, counts, starts, MPI_DOUBLE, MPI_IN_PLACE, 0, none, 1, MPI_COMM_WORLD);
    } else {
        MPI_Gather(mine, 1, pair, NULL, 7, none, 1, MPI_COMM_WORLD);
        MPI_Scatter(NULL, 7, none, mine, 1, pair, 1, MPI_COMM_WORLD);
        MPI_Gatherv(mine, counts[rank], MPI_DOUBLE, NULL, nowhere, nowhere, none, 1, MPI_COMM_WORLD);
        MPI_Scatterv(NULL, nowhere, nowhere, none, mine, counts[rank], MPI_DOUBLE, 1, MPI_COMM_WORLD);
    }
    MPI_Allgather(MPI_IN_PLACE, 0, none, all, 3, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
