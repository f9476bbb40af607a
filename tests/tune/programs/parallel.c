// Each rank writes a block of columns of one dataset, and reads it back. The program has a hint of its own,
// or with a second argument none, and then transfers independently.
// It names data of MPI's and HDF5's libraries, which the linker therefore copies into it.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 64 };
static double data[SIDE * SIDE], back[SIDE * SIDE];

int main(int count, char** argument) {
    int rank = 0, ranks = 0;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int all = -1, one = 1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD);
    MPI_Info hints = MPI_INFO_NULL;
    if (count < 3) {
        MPI_Info_create(&hints);
        MPI_Info_set(hints, "cb_nodes", "1");
    }
    hid_t access = H5Pcopy(H5P_FILE_ACCESS_DEFAULT), transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, hints);
    H5Pset_dxpl_mpio(transfer, count < 3 ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
    hsize_t whole[2] = {SIDE, (hsize_t)ranks * SIDE}, part[2] = {SIDE, SIDE},
            from[2] = {0, (hsize_t)rank * SIDE};
    hid_t space = H5Screate_simple(2, whole, NULL), memory = H5Screate_simple(2, part, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, part, NULL);
    for (int i = 0; i < SIDE * SIDE; ++i) data[i] = rank * SIDE * SIDE + i;
    hid_t file = H5Fcreate(argument[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int bad = all != 1 || H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, transfer, data) < 0 ||
              H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, transfer, back) < 0 ||
              memcmp(data, back, sizeof data) != 0;
    H5Dclose(set);
    H5Fclose(file);
    H5Pclose(access);
    if (count < 3) MPI_Info_free(&hints);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return bad;
}
