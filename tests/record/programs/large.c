/* Every call with large counts whose blocks vary, where the MPI has them. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double out[64] = {0}, in[64] = {0};
    MPI_Count gives[8], takes[8];
    MPI_Aint from[8], to[8];
    for (int i = 0; i < size; ++i) {
        gives[i] = i + 1; /* to rank i */
        takes[i] = rank + 1;
        from[i] = 8 * i;
        to[i] = 8 * i;
    }
    MPI_Alltoallv_c(out, gives, from, MPI_DOUBLE, in, takes, to, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Request request;
    MPI_Ialltoallv_c(out, gives, from, MPI_DOUBLE, in, takes, to, MPI_DOUBLE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allgatherv_c(out, rank + 1, MPI_DOUBLE, in, gives, to, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Gatherv_c(out, rank + 1, MPI_DOUBLE, in, gives, to, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
