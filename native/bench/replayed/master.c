/* A master hands out pieces of work of different lengths to whoever asks, and takes their results from any
 * source. `master PIECES LOOPS`: the longest piece runs so many loops. */
#include <mpi.h>
#include <stdlib.h>

enum { RESULT = 1024 }; /* numbers of a result */

static void work(double* result, long loops) {
    for (long i = 0; i < loops; ++i) result[i % RESULT] = result[(i * 7 + 1) % RESULT] * 0.999 + 1e-3;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, open;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long pieces = argc > 1 ? atol(argv[1]) : 5000, most = argc > 2 ? atol(argv[2]) : 200000;
    double result[RESULT] = {0}, sum = 0;
    MPI_Status from;
    for (open = ranks - 1; rank == 0 && open > 0;) {
        static long given;
        MPI_Recv(result, RESULT, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &from);
        for (int i = 0; i < RESULT; ++i) sum += result[i];
        const long piece = given < pieces ? 1 + most / 2 + given * 37 % (most / 2) : 0;
        given += piece > 0;
        open -= piece == 0;
        MPI_Send(&piece, 1, MPI_LONG, from.MPI_SOURCE, 0, MPI_COMM_WORLD);
    }
    for (long piece = 1; rank > 0 && piece > 0;) {
        MPI_Send(result, RESULT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        MPI_Recv(&piece, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work(result, piece);
    }
    MPI_Finalize();
    return sum < 0;
}
