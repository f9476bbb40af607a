/* Rank 0 waits in one thread for a message that the other thread's calls let come; rank 1 sends it late. */
#include <mpi.h>
#include <pthread.h>

static int rank;
static MPI_Comm mine[2];
static volatile int waits;

/* What a thread waits for, which comes after what the other one does. */
static void *late(void *nothing) {
    char data[100];
    waits = 1;
    if (rank == 0) MPI_Recv(data, 100, MPI_BYTE, 1, 5, mine[0], MPI_STATUS_IGNORE);
    MPI_Barrier(mine[0]);
    return nothing;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &mine[i]);
    pthread_t other;
    pthread_create(&other, NULL, late, NULL);
    while (!waits) {}
    int one = 1, sum = 0;
    for (int i = 0; i < 3; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, mine[1]);
    char data[40] = "";
    if (rank == 1) MPI_Send(data, 40, MPI_BYTE, 0, 5, mine[0]);
    pthread_join(other, NULL);
    MPI_Finalize();
    return 0;
}
