// Writes and reads two datasets; what it prints must be the same whatever is preloaded. Arguments: the file, and
// "own" where the program makes settings of its own, "new" where the file must not be there yet.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 6000 };
static double data[SIZE], back[SIZE];

static int wrong(hid_t file, const char* name, hid_t space, hid_t list) {
    hid_t set = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    herr_t wrote = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    herr_t read = H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back);
    H5Dclose(set);
    return set < 0 || wrote < 0 || read < 0 || memcmp(data, back, sizeof data) != 0;
}

int main(int count, char** argument) {
    int own = count > 2 && strcmp(argument[2], "own") == 0, fresh = count > 2 && strcmp(argument[2], "new") == 0;
    hsize_t lengths[3] = {10, 20, 30}, chunk[3] = {5, 5, 5};
    hid_t access = H5P_DEFAULT, space = H5Screate_simple(3, lengths, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    for (int i = 0; i < SIZE; ++i) data[i] = i;
    if (own) {
        access = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_alignment(access, 1, 512);
    }
    hid_t file = H5Fcreate(argument[1], fresh ? H5F_ACC_EXCL : H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    printf("wrong: %d\n", wrong(file, "x", space, H5P_DEFAULT));
    H5Pset_chunk(list, 3, chunk);
    printf("wrong: %d\n", wrong(group, "y", space, list));
    hsize_t threshold = 0, boundary = 0;
    if (own) H5Pget_alignment(access, &threshold, &boundary);
    printf("closed: %d, own list: %d\n", H5Fclose(file), (int)boundary);
    // Errors are told as always, and stay on the stack for whoever asks.
    H5Fcreate("/nonexistent/file", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    printf("errors: %d\n", (int)H5Eget_num(H5E_DEFAULT));
    H5Dwrite(-1, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    printf("errors: %d\n", (int)H5Eget_num(H5E_DEFAULT));
    fflush(stdout);
    if (getenv("ENDS_AT_ONCE") != NULL) _exit(0);
    return 0;
}
