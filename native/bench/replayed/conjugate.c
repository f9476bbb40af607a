/* Conjugate gradients for the five-point Laplacian of a square, rows spread over the ranks: two dot products
 * and an exchange of a row with either neighbour in each iteration. `conjugate EDGE ITERATIONS`. */
#include <mpi.h>
#include <stdlib.h>

static int rank, ranks;
static size_t width, rows;

static double dot(const double* a, const double* b) {
    double own = 0, all = 0;
    for (size_t i = width; i < (rows + 1) * width; ++i) own += a[i] * b[i];
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void multiply(double* p, double* q) {
    const int up = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(p + rows * width, (int)width, MPI_DOUBLE, up, 0, p, (int)width, MPI_DOUBLE, down, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(p + width, (int)width, MPI_DOUBLE, down, 1, p + (rows + 1) * width, (int)width, MPI_DOUBLE,
                 up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (size_t y = 1; y <= rows; ++y)
        for (size_t x = 0; x < width; ++x) {
            const size_t i = y * width + x;
            q[i] = 4.1 * p[i] - p[i - width] - p[i + width] - (x ? p[i - 1] : 0) -
                   (x + 1 < width ? p[i + 1] : 0);
        }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    width = argc > 1 ? (size_t)atol(argv[1]) : 512;
    const int iterations = argc > 2 ? atoi(argv[2]) : 1000;
    rows = width / (size_t)ranks;
    const size_t all = (rows + 2) * width;
    double *x = calloc(all, 8), *r = calloc(all, 8), *p = calloc(all, 8), *q = calloc(all, 8);
    for (size_t i = width; i < (rows + 1) * width; ++i) r[i] = p[i] = 1 + (double)(i % 7);
    double rho = dot(r, r);
    for (int turn = 0; turn < iterations; ++turn) {
        multiply(p, q);
        const double alpha = rho / dot(p, q);
        for (size_t i = width; i < (rows + 1) * width; ++i) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        const double next = dot(r, r) + 1e-300;
        for (size_t i = width; i < (rows + 1) * width; ++i) p[i] = r[i] + next / (rho + 1e-300) * p[i];
        rho = next;
    }
    MPI_Finalize();
    return rho < 0;
}
