#include "bench/plain.h"

#include <mpi.h>
#include <time.h>

static MPI_Comm aligning = MPI_COMM_NULL;
static int rank = 0;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void plain_begin(void) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &aligning);
}

double plain_pingpong(const void* out, void* in, int bytes, long batch) {
    MPI_Barrier(aligning);
    const double begin = now();
    if (rank == 0) {
        for (long i = 0; i < batch; ++i) {
            MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    } else {
        for (long i = 0; i < batch; ++i) {
            MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    return (now() - begin) / (double)batch / 2;
}

double plain_barrier(const void* out, void* in, int bytes, long batch) {
    (void)out, (void)in, (void)bytes;
    MPI_Barrier(aligning);
    const double begin = now();
    for (long i = 0; i < batch; ++i) MPI_Barrier(MPI_COMM_WORLD);
    return (now() - begin) / (double)batch;
}

double plain_bcast(const void* out, void* in, int bytes, long batch) {
    (void)out;
    MPI_Barrier(aligning);
    const double begin = now();
    for (long i = 0; i < batch; ++i) MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return (now() - begin) / (double)batch;
}

double plain_allreduce(const void* out, void* in, int bytes, long batch) {
    const int count = bytes / (int)sizeof(double);
    MPI_Barrier(aligning);
    const double begin = now();
    for (long i = 0; i < batch; ++i) MPI_Allreduce(out, in, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (now() - begin) / (double)batch;
}

double plain_slowest(double value) {
    double slowest = value;
    MPI_Reduce(&value, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, aligning);
    return slowest;
}

void plain_end(void) { MPI_Comm_free(&aligning); }
