/* A communicator made beside the program, an exchange with one request, an epoch that is tested for, a receive that
 * is too small, and 400 ms of asking whether a message is there. Two ranks. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
    int rank = 0, flag = 0;
    char data[256] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm copy;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 0) MPI_Send(data, 44, MPI_BYTE, 1, 0, copy);
    else MPI_Recv(data, 256, MPI_BYTE, 0, 0, copy, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
#if MPI_VERSION >= 4
    MPI_Isendrecv(data, 24, MPI_BYTE, 1 - rank, 1, data + 128, 24, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
    MPI_Win window;
    MPI_Group world, other;
    const int peer = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    MPI_Win_create(data, 256, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 0) {
        MPI_Win_start(other, 0, window);
        MPI_Put(data, 16, MPI_BYTE, 1, 0, 16, MPI_BYTE, window);
        MPI_Win_complete(window);
    } else {
        MPI_Win_post(other, 0, window);
        while (!flag) MPI_Win_test(window, &flag);
    }
    MPI_Win_free(&window);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(400000);
        MPI_Send(data, 8, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
        MPI_Send(data, 100, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(data, 8, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request);
        for (flag = 0; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Recv(data, 10, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
