/* Rank 0 has three targets and no source, rank 2 three sources and no target: 0 to 1, 2, 3; 1 and 3 to 2. */
#include <mpi.h>

int main(int argc, char** argv) {
    int rank = 0;
    char mine[80] = {0}, all[320];
    static const int in[] = {0, 1, 3, 1}, out[] = {3, 1, 0, 1};
    static const int sources[4][3] = {{0}, {0}, {0, 1, 3}, {0}}, targets[4][3] = {{1, 2, 3}, {2}, {0}, {2}};
    MPI_Comm graph;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in[rank], sources[rank], MPI_UNWEIGHTED, out[rank], targets[rank],
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
#ifdef OPEN_MPI
    const int takes = 80; /* Open MPI 4.1 takes 0 for an exchange of nothing, and sends nothing */
#else
    const int takes = in[rank] ? 80 : 0;
#endif
    MPI_Neighbor_allgather(mine, out[rank] ? 80 : 0, MPI_BYTE, all, takes, MPI_BYTE, graph);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
