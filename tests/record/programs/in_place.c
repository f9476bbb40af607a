/* Each collective that may be in place, once apart and once in place; of those with a root the last rank is
 * it. */
#include <mpi.h>

enum { BLOCK = 1000, MOST = 8 };

static char from[MOST * BLOCK], to[MOST * BLOCK];

int main(int argc, char** argv) {
    int rank = 0, size = 0, counts[MOST], places[MOST];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int root = size - 1;
    for (int i = 0; i < size; ++i) counts[i] = 8 * (i + 1);
    for (int i = 0; i < size; ++i) places[i] = 8 * i * (i + 1) / 2;
    for (int turn = 0; turn < 2; ++turn) {
        void* all = turn ? MPI_IN_PLACE : from;
        void* given = turn && rank == root ? MPI_IN_PLACE : from;
        void* taken = turn && rank == root ? MPI_IN_PLACE : to;
        MPI_Comm world = MPI_COMM_WORLD;
        MPI_Allreduce(all, to, BLOCK / 8, MPI_INT64_T, MPI_SUM, world);
        MPI_Allgather(all, BLOCK, MPI_CHAR, to, BLOCK, MPI_CHAR, world);
        MPI_Alltoall(all, BLOCK, MPI_CHAR, to, BLOCK, MPI_CHAR, world);
        MPI_Scan(all, to, BLOCK / 8, MPI_INT64_T, MPI_MAX, world);
        MPI_Reduce_scatter_block(all, to, BLOCK / 8, MPI_INT64_T, MPI_SUM, world);
        MPI_Reduce(given, to, BLOCK / 8, MPI_INT64_T, MPI_SUM, root, world);
        MPI_Gather(given, BLOCK, MPI_CHAR, to, BLOCK, MPI_CHAR, root, world);
        MPI_Scatter(from, BLOCK, MPI_CHAR, taken, BLOCK, MPI_CHAR, root, world);
        MPI_Allgatherv(all, counts[rank], MPI_CHAR, to, counts, places, MPI_CHAR, world);
        MPI_Gatherv(given, counts[rank], MPI_CHAR, to, counts, places, MPI_CHAR, root, world);
        MPI_Scatterv(from, counts, places, MPI_CHAR, taken, counts[rank], MPI_CHAR, root, world);
        MPI_Iallreduce(all, to, BLOCK / 8, MPI_INT64_T, MPI_SUM, world, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
