/* The ranks start as many others and work with them, in one communicator of all and in parts of it. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank = 0, ranks = 0, sum = 0, got = -1;
    MPI_Comm other, all, part;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&other);
    const int child = other != MPI_COMM_NULL;
    char* commands[2] = {argv[0], argv[0]};
    const int one[2] = {1, 1};
    const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    if (!child)
        MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, one, infos, 0, MPI_COMM_WORLD, &other,
                                MPI_ERRCODES_IGNORE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) { /* of each world sends to the other's */
        MPI_Irecv(&got, 1, MPI_INT, 1, 5, other, &requests[0]);
        MPI_Isend(&rank, 1, MPI_INT, 1, 5, other, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Intercomm_merge(other, child, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &ranks);
    MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % ranks, 6, &got, 1, MPI_INT, (rank + ranks - 1) % ranks, 6, all,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_split(all, child, rank, &part); /* each world's own */
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
    MPI_Comm_free(&part);
    MPI_Comm_split(all, rank == 0 ? MPI_UNDEFINED : 1, rank, &part);
    if (part != MPI_COMM_NULL) {
        MPI_Barrier(part);
        MPI_Comm_free(&part);
    }
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return sum == (child ? 5 : 1) && got == (rank + ranks - 1) % ranks ? 0 : 4;
}
