// leadline-stencil: one launch of Jacobi sweeps as one would write them down, for `jacobi` to be held
// against.
//
// A triple loop in plain C, left to the compiler (-O3 -march=native), over L x L x L points a rank, L = 400;
// ranks are stacked along the slowest axis and swap a plane with each neighbour before each sweep. The points
// that all of them update a second go to the file of the second argument, a JSON line a sweep; the first
// argument is a job, as every launch is given one, and is not read.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { edge = 400, row = edge + 2, plane = row * row, sweeps = 20, warmup = 3 };

static void sweep(double* restrict to, const double* restrict from) {
    for (int z = 1; z <= edge; ++z)
        for (int y = 1; y <= edge; ++y)
            for (int x = 1; x <= edge; ++x) {
                const long i = (long)z * plane + y * row + x;
                to[i] = (from[i - 1] + from[i + 1] + from[i - row] + from[i + row] + from[i - plane] +
                         from[i + plane]) *
                        (1.0 / 6.0);
            }
}

static void swap(double* field, int rank, int size) {
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    double* last = field + (long)edge * plane;
    MPI_Sendrecv(field + plane, plane, MPI_DOUBLE, below, 0, last + plane, plane, MPI_DOUBLE, above, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, plane, MPI_DOUBLE, above, 1, field, plane, MPI_DOUBLE, below, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

static void measure(FILE* answers, double* from, double* to) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (long i = 0; i < (long)(edge + 2) * plane; ++i) from[i] = to[i] = (double)(i % 7);
    for (int i = 0; i < warmup + sweeps; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        swap(from, rank, size);
        sweep(to, from);
        MPI_Barrier(MPI_COMM_WORLD);
        const double rate = (double)edge * edge * edge * size / (MPI_Wtime() - begin);
        double* const written = to;
        to = from;
        from = written;
        if (answers && i >= warmup) fprintf(answers, "{\"event\": \"sweep\", \"rate\": %.9e}\n", rate);
    }
    if (answers) fprintf(answers, "{\"event\": \"done\"}\n");
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE* answers = rank == 0 && argc > 2 ? fopen(argv[2], "a") : NULL;
    double* from = malloc(sizeof(double) * (edge + 2) * plane);
    double* to = malloc(sizeof(double) * (edge + 2) * plane);
    if (!from || !to || (rank == 0 && !answers)) {
        fprintf(stderr, "leadline-stencil JOB ANSWERS: no memory, or no file to write\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        measure(answers, from, to);
    }
    if (answers) fclose(answers);
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
