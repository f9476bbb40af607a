// NAS FT by the transform of another library: what `ft` is held against by `make bench PARTS=ft`.
//
// The whole benchmark as it is timed: initial state, one transform there, then for each iteration an
// evolution, one transform back and a checksum. Prints the time of each repetition, s, of the slowest rank,
// and whether the last checksum is the one that was given.
#include "ft_other.h"

#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const uint64_t multiplier = 1220703125, seed = 314159265, mask = ((uint64_t)1 << 46) - 1;

static uint64_t power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent /= 2, base = base * base & mask)
        if (exponent % 2) result = result * base & mask;
    return result;
}

static void initial(double complex* to, ptrdiff_t first, ptrdiff_t count) {
    double* out = (double*)to;
    uint64_t x = power(multiplier, 2 * (uint64_t)first) * seed & mask;
    for (ptrdiff_t k = 0; k < 2 * count; ++k) {
        x = x * multiplier & mask;
        out[k] = (double)x / (double)(mask + 1);
    }
}

static void factors(double* to, ptrdiff_t n, int step) {
    for (ptrdiff_t i = 0; i < n; ++i) {
        const double wave = (double)(i < n / 2 ? i : i - n);
        to[i] = exp(-4e-6 * M_PI * M_PI * wave * wave * step);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 8) {
        fprintf(stderr, "usage: %s NX NY NZ ITERATIONS REPETITIONS REAL IMAGINARY (of the last checksum)\n",
                argv[0]);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const ptrdiff_t nx = atol(argv[1]), ny = atol(argv[2]), nz = atol(argv[3]);
    const int iterations = atoi(argv[4]), repetitions = atoi(argv[5]);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct transform own;
    transform_open(&own, nx, ny, nz);
    const ptrdiff_t planes = own.planes, first = own.first, rows = own.rows, row = own.row;
    double complex *state = own.state, *work = own.work;
    double* ex = malloc(sizeof(double) * (size_t)(nx + ny + nz));
    double *ey = ex + nx, *ez = ey + ny;
    const ptrdiff_t outer = own.z_last ? nx : nz, inner = own.z_last ? nz : nx;
    const double *by_outer = own.z_last ? ex : ez, *by_inner = own.z_last ? ez : ex;
    for (int repetition = 0; repetition < repetitions; ++repetition) {
        double complex sum = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        const double began = MPI_Wtime();
        initial(state, first * ny * nx, planes * ny * nx);
        transform_there();
        for (int step = 1; step <= iterations; ++step) {
            factors(ex, nx, step);
            factors(ey, ny, step);
            factors(ez, nz, step);
            for (ptrdiff_t y = 0; y < rows; ++y)
                for (ptrdiff_t i = 0; i < outer; ++i) {
                    const double factor = ey[row + y] * by_outer[i];
                    const ptrdiff_t at = (y * outer + i) * inner;
                    for (ptrdiff_t j = 0; j < inner; ++j)
                        work[at + j] = state[at + j] * (factor * by_inner[j]);
                }
            transform_back();
            double complex mine = 0;
            for (ptrdiff_t j = 1; j <= 1024; ++j) {
                const ptrdiff_t z = 5 * j % nz;
                if (z >= first && z < first + planes)
                    mine += work[((z - first) * ny + 3 * j % ny) * nx + j % nx];
            }
            mine /= (double)nx * (double)ny * (double)nz;
            MPI_Allreduce(&mine, &sum, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
        }
        double took = MPI_Wtime() - began, slowest = 0;
        MPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        const int right =
            fabs(creal(sum) / atof(argv[6]) - 1) < 1e-12 && fabs(cimag(sum) / atof(argv[7]) - 1) < 1e-12;
        if (rank == 0) printf("%.6f %s\n", slowest, right ? "verified" : "wrong");
    }
    transform_close();
    MPI_Finalize();
    return 0;
}
