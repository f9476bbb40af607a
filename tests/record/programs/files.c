/* Each rank writes 1 MiB with all others, begins to write 512 B and computes 20 ms before it waits for them, and
 * reads 100 B back; rank 1 comes 30 ms late to the end. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static void compute(double seconds) {
    const double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end) {
    }
}

int main(int argc, char** argv) {
    int rank = 0;
    char* data = calloc(1, 1 << 20);
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, (MPI_Offset)rank << 20, data, 1 << 20, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, (MPI_Offset)(2 + rank) << 20, data, 512, MPI_BYTE, &request);
    compute(0.02);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, data, 25, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (rank == 1) compute(0.03);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(data);
    return 0;
}
