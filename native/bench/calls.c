/* Seconds of an MPI call that does nearly nothing, many times: `calls COUNT` prints them for each rank 0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const long count = argc > 1 ? atol(argv[1]) : 1000000;
    double value = 1, sum = 0;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int warm = 0; warm < 1000; ++warm)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    const double begin = MPI_Wtime();
    for (long turn = 0; turn < count; ++turn)
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    const double each = (MPI_Wtime() - begin) / (double)count;
    if (rank == 0) printf("%.12g\n", each);
    MPI_Finalize();
    return 0;
}
