/* An error handler leaves a call by a jump, as those that throw exceptions do; then rank 0 sends 10 messages
 * from a function of its own. */
#include <mpi.h>
#include <setjmp.h>

static jmp_buf before;

static void handler(MPI_Comm* comm, int* code, ...) { longjmp(before, 1); }

static void messages(int rank) {
    int data = 0;
    for (int i = 0; i < 10; ++i) {
        if (rank == 0) MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        else MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Errhandler made;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);
    if (!setjmp(before)) MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    messages(rank);
    MPI_Finalize();
    return 0;
}
