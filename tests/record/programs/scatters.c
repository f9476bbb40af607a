/* Sums and maxima whose blocks vary: the ranks' sizes are no multiples of one another, nor of a number's. */
#include <mpi.h>

static char from[4096], to[4096];

int main(int argc, char** argv) {
    int size = 0, counts[8];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; ++i) counts[i] = i;
    MPI_Reduce_scatter(from, to, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; ++i) counts[i] = 3 * i + 1;
    MPI_Reduce_scatter(from, to, counts, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter(from, to, counts, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    MPI_Ireduce_scatter(from, to, counts, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
