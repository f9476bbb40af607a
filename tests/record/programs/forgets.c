// Collectives that nobody waits for: nonblocking ones, also of neighbours, before blocking ones.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double mine = 1, sums[3] = {0, 0, 0}, around[2] = {0, 0};
    MPI_Request requests[3];
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
    MPI_Iallreduce(&mine, &sums[0], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ineighbor_allgather(&mine, 1, MPI_DOUBLE, around, 1, MPI_DOUBLE, ring, &requests[1]);
    MPI_Allreduce(&mine, &sums[1], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(&mine, &sums[2], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%g %g\n", sums[1], sums[2]);
    MPI_Finalize();
    return 0;
}
