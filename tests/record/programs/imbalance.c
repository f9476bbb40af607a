/* Rank 1 computes 5 ms before each of ten allreduces, the other ranks nothing. */
#include <mpi.h>
#include <time.h>

static void compute(double seconds) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double end = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + seconds;
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < end);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    double value = 0, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int turn = 0; turn < 10; ++turn) {
        if (rank == 1) compute(5e-3);
        MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
