// For SMPI: 8 B summed over all ranks, once.
#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double in = 1, out = 0;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
