// Each rank writes a block of one dataset through the subfiling driver, and reads what its neighbour wrote.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 65536 };
static double data[SIDE], back[SIDE];

static int move(hid_t file, const char* name, int rank, int ranks) {
    int next = (rank + 1) % ranks;
    hsize_t whole = (hsize_t)ranks * SIDE, part = SIDE, own = (hsize_t)rank * SIDE,
            other = (hsize_t)next * SIDE;
    hid_t space = H5Screate_simple(1, &whole, NULL), memory = H5Screate_simple(1, &part, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; i < SIDE; ++i) data[i] = rank * SIDE + i;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &own, NULL, &part, NULL);
    int bad = H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) < 0;
    H5Fflush(file, H5F_SCOPE_LOCAL);
    MPI_Barrier(MPI_COMM_WORLD);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &other, NULL, &part, NULL);
    bad |= H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, back) < 0;
    for (int i = 0; i < SIDE; ++i) bad |= back[i] != next * SIDE + i;
    H5Dclose(set);
    H5Sclose(memory);
    H5Sclose(space);
    return bad;
}

int main(int count, char** argument) {
    int given = 0, rank = 0, ranks = 0, all = 0;
    MPI_Init_thread(&count, &argument, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_mpi_params(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    int bad = given < MPI_THREAD_MULTIPLE || H5Pset_fapl_subfiling(access, NULL) < 0;
    hid_t file = H5Fcreate(argument[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    bad |= file < 0 || move(file, "x", rank, ranks);
    H5Fclose(file);
    H5Pclose(access);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong: %d\n", all);
    MPI_Finalize();
    return all;
}
