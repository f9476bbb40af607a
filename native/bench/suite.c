// leadline-suite: one launch of a ping-pong suite as such suites are by default, with fixed counts at every
// size.
//
// It stands in for them: 1 B to 4 MiB doubling, 10,000 round trips after 100 that do not count, a tenth of
// both above 8 KiB. The time of one way at each size goes to the file of the second argument, a JSON line
// each; the first argument is a job, as every launch is given one, and is not read.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/plain.h"

enum { most = 4 << 20, small = 8 << 10 };

static void measure(FILE* answers, const char* out, char* in) {
    for (int bytes = 1; bytes <= most; bytes *= 2) {
        const long iterations = bytes <= small ? 10000 : 1000;
        plain_pingpong(out, in, bytes, iterations / 100);
        const double latency = plain_pingpong(out, in, bytes, iterations);
        if (answers)
            fprintf(answers, "{\"event\": \"size\", \"bytes\": %d, \"latency\": %.9e}\n", bytes, latency);
    }
    if (answers) fprintf(answers, "{\"event\": \"done\"}\n");
}

int main(int argc, char** argv) {
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE* answers = rank == 0 && argc > 2 ? fopen(argv[2], "a") : NULL;
    char* out = malloc(most);
    char* in = malloc(most);
    if (!out || !in || (rank == 0 && !answers)) {
        fprintf(stderr, "leadline-suite JOB ANSWERS: no memory, or no file to write\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
        memset(out, 1, most);
        memset(in, 1, most);
        plain_begin();
        measure(answers, out, in);
        plain_end();
    }
    if (answers) fclose(answers);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
