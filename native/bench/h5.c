// What the preloaded library costs: `calls` prints nanoseconds of a call, one a line with its name; `write`
// prints the median of the seconds in which 1 GB of one dataset is written. Arguments: which, and a file to
// write.
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 200000, WRITES = 20000, OPENINGS = 200, SLAB = 1 << 21, SLABS = 64, WRITINGS = 5 };  // 1.07 GB

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(const char* name, double began, int calls) {
    printf("%s %.2f\n", name, 1e9 * (now() - began) / calls);
}

static void calls(const char* path) {
    hsize_t length = 8;
    double data[8] = {0};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
          space = H5Screate_simple(1, &length, NULL);
    hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    int* handle = NULL;
    H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&handle);
    double began = now();
    for (int i = 0; i < CALLS; ++i) (void)lseek(*handle, 0, SEEK_CUR);
    tell("lseek", began, CALLS);
    began = now();
    for (int i = 0; i < CALLS; ++i)
        if (pread(*handle, data, 8, 0) != 8) exit(1);
    tell("pread", began, CALLS);
    int other = open(path, O_RDONLY);  // of no concern to the library
    began = now();
    for (int i = 0; i < CALLS; ++i)
        if (pread(other, data, 8, 0) != 8) exit(1);
    tell("pread-other", began, CALLS);
    began = now();
    for (int i = 0; i < WRITES; ++i) H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    tell("H5Dwrite", began, WRITES);
    H5Dclose(set);
    H5Fclose(file);
    began = now();
    for (int i = 0; i < OPENINGS; ++i) H5Fclose(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    tell("H5Fopen", began, OPENINGS);
}

static int by_size(const void* a, const void* b) {
    return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

// From opening to closing. The first writing is not counted: it is the one that gets memory from the system.
static void write_all(const char* path) {
    double *data = malloc(SLAB * sizeof *data), took[WRITINGS];
    memset(data, 1, SLAB * sizeof *data);
    hsize_t length = (hsize_t)SLAB * SLABS, part = SLAB;
    hid_t memory = H5Screate_simple(1, &part, NULL), space = H5Screate_simple(1, &length, NULL);
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    for (int writing = -1; writing < WRITINGS; ++writing) {
        double began = now();
        file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t set = H5Dopen2(file, "x", H5P_DEFAULT);
        for (hsize_t i = 0; i < SLABS; ++i) {
            hsize_t from = i * SLAB;
            H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &part, NULL);
            if (H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, data) < 0) exit(1);
        }
        H5Dclose(set);
        H5Fclose(file);
        if (writing >= 0) took[writing] = now() - began;
    }
    qsort(took, WRITINGS, sizeof *took, by_size);
    printf("write %.6f\n", took[WRITINGS / 2]);
    free(data);
}

int main(int count, char** argument) {
    if (count != 3) return 2;
    if (strcmp(argument[1], "calls") == 0) calls(argument[2]);
    else write_all(argument[2]);
    return 0;
}
