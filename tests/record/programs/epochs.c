/* Two windows of one rank whose epochs overlap, each for another rank; and a file, whose calls are no messages. */
#include <mpi.h>

int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double here[2] = {0, 0}, mine = rank;
    MPI_Win windows[2];
    MPI_Group world, one[3];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 3; ++i) MPI_Group_incl(world, 1, &i, &one[i]);
    for (int i = 0; i < 2; ++i)
        MPI_Win_create(&here[i], sizeof *here, sizeof *here, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
    if (rank == 0) {
        for (int i = 0; i < 2; ++i) MPI_Win_post(one[i + 1], 0, windows[i]);
        for (int i = 0; i < 2; ++i) MPI_Win_wait(windows[i]);
    } else {
        MPI_Win_start(one[0], 0, windows[rank - 1]);
        MPI_Put(&mine, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, windows[rank - 1]);
        MPI_Win_complete(windows[rank - 1]);
    }
    for (int i = 0; i < 2; ++i) MPI_Win_free(&windows[i]);
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS)
        MPI_File_close(&file);
    MPI_Finalize();
    return 0; /* MPICH 4.0.2 ends the second epoch before its put, recorded or not */
}
