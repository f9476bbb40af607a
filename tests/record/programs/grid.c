/* A periodic dimension of two ranks, whose neighbours down and up are one: what goes down comes from up. Then the
 * grid's part along it, and equal blocks in a copy of the grid, nonblocking. */
#include <mpi.h>

int main(int argc, char** argv) {
    static const int lengths[] = {2, 2}, periods[] = {0, 1}, kept[] = {0, 1};
    static const int gives[] = {8, 16, 24, 4000}, from[] = {0, 8, 24, 48};
    static const int takes[] = {16, 8, 4000, 24}, to[] = {0, 16, 24, 4024};
    char mine[5000] = {0}, all[5000];
    MPI_Comm grid, part, copy;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 2, lengths, periods, 0, &grid);
    MPI_Neighbor_alltoallv(mine, gives, from, MPI_BYTE, all, takes, to, MPI_BYTE, grid);
    MPI_Cart_sub(grid, kept, &part);
    MPI_Neighbor_alltoallv(mine, gives + 2, from, MPI_BYTE, all, takes + 2, to, MPI_BYTE, part);
    MPI_Comm_dup(grid, &copy);
    MPI_Ineighbor_alltoall(mine, 32, MPI_BYTE, all, 32, MPI_BYTE, copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
