// For SMPI: every rank swaps edges of 1 KiB with its four neighbours in a periodic grid, once, as
// native/benchmarks/halo.cpp does.
#include <mpi.h>

enum { bytes = 1024 };

// The largest divisor of `ranks` that is not beyond its root.
static int rows_of(int ranks) {
    int rows = 1;
    for (int i = 1; i * i <= ranks; ++i)
        if (ranks % i == 0) rows = i;
    return rows;
}

int main(int argc, char** argv) {
    int rank = 0;
    int ranks = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int rows = rows_of(ranks);
    const int columns = ranks / rows;
    const int row = rank / columns;
    const int column = rank % columns;
    const int peers[4] = {row * columns + (column + columns - 1) % columns,
                          row * columns + (column + 1) % columns, (row + rows - 1) % rows * columns + column,
                          (row + 1) % rows * columns + column};
    static char edge[bytes];
    MPI_Request requests[8];
    for (int k = 0; k < 4; ++k)
        MPI_Irecv(edge, bytes, MPI_BYTE, peers[k], k ^ 1, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < 4; ++k)
        MPI_Isend(edge, bytes, MPI_BYTE, peers[k], k, MPI_COMM_WORLD, &requests[k + 4]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
