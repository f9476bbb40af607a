/* Persistent collectives, which Open MPI 4 has as an extension. */
#include <mpi.h>
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#include <mpi-ext.h>
#define INIT(name) MPIX_##name
#else
#define INIT(name) MPI_##name
#endif

int main(int argc, char** argv) {
    double own[100] = {1}, sums[100] = {0};
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    INIT(Allreduce_init)(own, sums, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    INIT(Bcast_init)(own, 50, MPI_DOUBLE, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 3; ++i) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
