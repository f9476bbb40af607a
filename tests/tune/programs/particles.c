// What h5bench's write and read patterns do: each rank has a contiguous part of eight one-dimensional variables in
// each of four time steps' groups; written collectively, flushed, read back by the next rank.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PARTICLES = 8192, VARIABLES = 8, STEPS = 4 };
static float data[PARTICLES], back[PARTICLES];

static void fill(int rank, int step, int variable) {
    for (int i = 0; i < PARTICLES; ++i) data[i] = (float)(rank + i % 1000 + 10 * variable + 100 * step);
}

static int move(hid_t file, int rank, int ranks, int step, int writes) {
    char name[32];
    const int owner = writes ? rank : (rank + 1) % ranks;
    int bad = 0;
    hsize_t whole = (hsize_t)ranks * PARTICLES, part = PARTICLES, from = (hsize_t)owner * PARTICLES;
    hid_t space = H5Screate_simple(1, &whole, NULL), memory = H5Screate_simple(1, &part, NULL);
    hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &part, NULL);
    snprintf(name, sizeof name, "Timestep_%d", step);
    hid_t group = writes ? H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                         : H5Gopen2(file, name, H5P_DEFAULT);
    for (int variable = 0; variable < VARIABLES; ++variable) {
        snprintf(name, sizeof name, "v%d", variable);
        fill(owner, step, variable);
        hid_t set = writes ? H5Dcreate2(group, name, H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                           : H5Dopen2(group, name, H5P_DEFAULT);
        bad |= writes ? H5Dwrite(set, H5T_NATIVE_FLOAT, memory, space, transfer, data) < 0
                      : H5Dread(set, H5T_NATIVE_FLOAT, memory, space, transfer, back) < 0 ||
                            memcmp(data, back, sizeof data) != 0;
        H5Dclose(set);
    }
    H5Gclose(group);
    H5Pclose(transfer);
    H5Sclose(space);
    H5Sclose(memory);
    return bad;
}

int main(int count, char** argument) {
    int rank = 0, ranks = 0, bad = 0, all = 0;
    MPI_Init(&count, &argument);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    hid_t file = H5Fcreate(argument[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    for (int step = 0; step < STEPS; ++step) {
        bad |= move(file, rank, ranks, step, 1);
        H5Fflush(file, H5F_SCOPE_GLOBAL);
    }
    bad |= H5Fclose(file) < 0;
    file = H5Fopen(argument[1], H5F_ACC_RDONLY, access);
    for (int step = 0; step < STEPS; ++step) bad |= move(file, rank, ranks, step, 0);
    bad |= H5Fclose(file) < 0;
    H5Pclose(access);
    MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (rank == 0) printf("wrong: %d\n", all);
    MPI_Finalize();
    return all;
}
