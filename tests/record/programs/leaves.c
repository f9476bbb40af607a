/* Rank 0 sends rank 1 three messages of 100 B and one of 8 B; it receives the first of the three, and the
 * last. */
#include <mpi.h>

int main(int argc, char** argv) {
    char data[100] = "";
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Request forgotten;
        MPI_Send(data, 100, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        MPI_Send(data, 100, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
        MPI_Isend(data, 100, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &forgotten);
        MPI_Request_free(&forgotten);
        MPI_Send(data, 8, MPI_CHAR, 1, 6, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 100, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
