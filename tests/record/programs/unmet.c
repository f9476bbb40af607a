/* Receives of rank 0 that meet no message: open at the end, given back, cancelled, persistent ones too; one
 * that is given back and met, of a send that nobody waits for; between them a message each way. Rank 1 sends
 * one that nobody receives. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank = 0;
    char data[8][64] = {{0}};
    MPI_Request request, persistent, freed;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(data[0], 64, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request); /* open to the end */
        MPI_Irecv(data[1], 64, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &freed);
        MPI_Cancel(&freed);
        MPI_Request_free(&freed);
        MPI_Recv_init(data[2], 64, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &persistent);
        MPI_Start(&persistent);
        MPI_Irecv(data[3], 64, MPI_BYTE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &freed); /* meets one */
        MPI_Request_free(&freed);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(data[0], 10, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Isend(data[0], 20, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request); /* nobody waits for it */
        MPI_Send(data[0], 30, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        MPI_Start(&persistent);
        MPI_Cancel(&persistent);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
        MPI_Start(&persistent);
        MPI_Cancel(&persistent);
        MPI_Request_free(&persistent);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
