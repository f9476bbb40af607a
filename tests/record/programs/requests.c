/* Rank 1 sends 100 B, then rank 2 10 B, through one persistent receive of rank 0, which also waits for it while
 * nothing is under way. Rank 0 cancels a receive that has its 40 B already, and one that never gets any. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank = 0;
    char data[256] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Recv_init(data, 256, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &request);
    for (int turn = 1; turn <= 2; ++turn) {
        if (rank == turn) MPI_Send(data, turn == 1 ? 100 : 10, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) MPI_Send(data, 40, MPI_BYTE, 0, 4, MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Request_free(&request);
        MPI_Probe(1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int tag = 4; tag <= 5; ++tag) {
            MPI_Irecv(data, 256, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
