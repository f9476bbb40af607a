/* Rank 1 ends as the argument says, after a hundred barriers: killed, by MPI_Abort, or without MPI_Finalize. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 100; ++turn) MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && rank == 1 && !strcmp(argv[1], "kill")) raise(SIGKILL);
    if (argc > 1 && rank == 1 && !strcmp(argv[1], "abort")) MPI_Abort(MPI_COMM_WORLD, 9);
    if (argc > 1 && rank == 1 && !strcmp(argv[1], "exit")) _exit(4);
    for (int turn = 0; turn < 100; ++turn) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
