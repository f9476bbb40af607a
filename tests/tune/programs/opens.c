// Each rank opens one file together with the others and tells whether that failed.
#include <mpi.h>
#include <stdio.h>

int main(int count, char** argument) {
    int rank = 0, failed[2] = {0}, own = 0;
    MPI_File file = MPI_FILE_NULL;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    own = MPI_File_open(MPI_COMM_WORLD, argument[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
          MPI_SUCCESS;
    MPI_Gather(&own, 1, MPI_INT, failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (file != MPI_FILE_NULL) MPI_File_close(&file);
    MPI_Finalize();
    if (rank == 0) printf("failed: %d %d\n", failed[0], failed[1]);
    return 0;
}
