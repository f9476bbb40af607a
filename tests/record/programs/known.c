/* Every kind of call that the recorder knows a little about; tests/record/test_record.py has the answers. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    double out[64] = {0}, in[64 * 8] = {0};

    /* a strided type of 4 doubles: 32 B */
    MPI_Datatype column;
    MPI_Type_vector(4, 1, 8, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(out, 1, column, right, 5, in, 4, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);

    /* a receive that takes less than it could, from whoever sends */
    MPI_Request requests[3];
    MPI_Irecv(in, 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(out, 3, MPI_DOUBLE, right, 9, MPI_COMM_WORLD, &requests[1]);
    int index;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    /* persistent, started three times, completed by tests */
    MPI_Recv_init(in, 2, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 2, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    for (int turn = 0; turn < 3; ++turn) {
        MPI_Startall(2, requests);
        int done = 0;
        while (!done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);

    /* a communicator of even and of odd ranks, made and freed in a loop; nobody's message */
    for (int turn = 0; turn < 2; ++turn) {
        MPI_Comm half;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_DOUBLE, MPI_MAX, half);
        MPI_Comm_free(&half);
    }
    MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);

    /* blocks that vary, and a nonblocking collective */
    int counts[8], offsets[8];
    for (int i = 0; i < size; ++i) {
        counts[i] = i;
        offsets[i] = 8 * i;
    }
    MPI_Pcontrol(1);
    MPI_Allgatherv(out, rank, MPI_DOUBLE, in, counts, offsets, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Pcontrol(-1);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    /* a probed message */
    MPI_Request sent;
    MPI_Isend(out, 7, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &sent);
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(left, 2, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in, 64, MPI_DOUBLE, &message, &status);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);

    /* memory that others write */
    MPI_Win window;
    double *memory;
    MPI_Win_allocate(80, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 5, MPI_DOUBLE, right, 0, 5, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);

    printf("%d of %d\n", rank, size);
    MPI_Finalize();
    return 3;
}
