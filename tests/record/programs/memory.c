/* Ranks touch 48 MiB and 3 MiB, give them back, and meet. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t bytes = (size_t)(rank == 0 ? 48 : 3) << 20;
    char* memory = malloc(bytes);
    memset(memory, 1 + rank, bytes);
    const int sum = memory[bytes / 2];
    free(memory);
    int all = 0;
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 3;
}
