/* A stencil with 26 neighbours in a periodic grid of ranks: faces, edges and corners are exchanged, then
 * every point becomes the mean of the 27 around it. `stencil EDGE STEPS`: a cube of so many points to each
 * rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static size_t edge, row; /* points without the halo, and with it */

static size_t at(size_t x, size_t y, size_t z) { return x + row * (y + row * z); }

/* Along an axis: the first point and the number of points that go (`halo` 0) or come (1) that way. */
static size_t first(int way, int halo) { return way < 0 ? (halo ? 0 : 1) : way > 0 ? edge + halo : 1; }
static size_t count(int way) { return way ? 1 : edge; }

/* Between the grid and a buffer; how many points. */
static size_t copy(double* grid, double* buffer, const int* way, int halo) {
    size_t n = 0;
    for (size_t z = 0; z < count(way[2]); ++z)
        for (size_t y = 0; y < count(way[1]); ++y)
            for (size_t x = 0; x < count(way[0]); ++x) {
                double* point =
                    grid + at(first(way[0], halo) + x, first(way[1], halo) + y, first(way[2], halo) + z);
                if (halo) *point = buffer[n++];
                else buffer[n++] = *point;
            }
    return n;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    edge = argc > 1 ? (size_t)atol(argv[1]) : 48;
    const int steps = argc > 2 ? atoi(argv[2]) : 200;
    row = edge + 2;
    int ranks, dims[3] = {0, 0, 0}, periods[3] = {1, 1, 1}, own[3], rank;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, dims);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 3, own);
    double* now = calloc(row * row * row, sizeof *now);
    double* next = calloc(row * row * row, sizeof *next);
    double* buffers = calloc(2 * 26 * edge * edge, sizeof *buffers);
    now[at(1, 1, 1)] = 1 + rank;
    double change = 0;
    for (int step = 0; step < steps; ++step) {
        MPI_Request requests[52];
        int ways[26][3], n = 0;
        for (int each = 0; each < 27; ++each) {
            if (each == 13) continue;
            const int way[3] = {each % 3 - 1, each / 3 % 3 - 1, each / 9 - 1};
            memcpy(ways[n], way, sizeof way);
            int there[3], from;
            for (int i = 0; i < 3; ++i) there[i] = own[i] + way[i];
            MPI_Cart_rank(grid, there, &from);
            const size_t points = count(way[0]) * count(way[1]) * count(way[2]);
            MPI_Irecv(buffers + (size_t)n * edge * edge, (int)points, MPI_DOUBLE, from, 26 - each, grid,
                      requests + n);
            ++n;
        }
        for (int i = 0; i < 26; ++i) {
            double* out = buffers + (size_t)(26 + i) * edge * edge;
            const size_t points = copy(now, out, ways[i], 0);
            int there[3], to;
            for (int k = 0; k < 3; ++k) there[k] = own[k] + ways[i][k];
            MPI_Cart_rank(grid, there, &to);
            const int tag = ways[i][0] + 1 + 3 * (ways[i][1] + 1) + 9 * (ways[i][2] + 1);
            MPI_Isend(out, (int)points, MPI_DOUBLE, to, tag, grid, requests + 26 + i);
        }
        MPI_Waitall(52, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 26; ++i) copy(now, buffers + (size_t)i * edge * edge, ways[i], 1);
        double sum = 0;
        for (size_t z = 1; z <= edge; ++z)
            for (size_t y = 1; y <= edge; ++y)
                for (size_t x = 1; x <= edge; ++x) {
                    double around = 0;
                    for (size_t k = z - 1; k <= z + 1; ++k)
                        for (size_t j = y - 1; j <= y + 1; ++j)
                            around += now[at(x - 1, j, k)] + now[at(x, j, k)] + now[at(x + 1, j, k)];
                    next[at(x, y, z)] = around / 27;
                    sum += around;
                }
        double* old = now;
        now = next;
        next = old;
        if (step % 10 == 9) MPI_Allreduce(&sum, &change, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
    MPI_Finalize();
    return change < 0;
}
