// Creates a file that must be new, by the driver that the second argument names, and tells whether it could.
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** argument) {
    const char* driver = count > 2 ? argument[2] : "";
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (strcmp(driver, "family") == 0) H5Pset_fapl_family(access, 1 << 20, H5P_DEFAULT);
    if (strcmp(driver, "split") == 0) H5Pset_fapl_split(access, ".meta", H5P_DEFAULT, ".raw", H5P_DEFAULT);
    if (strcmp(driver, "stdio") == 0) H5Pset_fapl_stdio(access);
    hid_t file = H5Fcreate(argument[1], H5F_ACC_EXCL, H5P_DEFAULT, access);
    printf("created: %d, errors: %d\n", file >= 0, H5Eget_num(H5E_DEFAULT) > 0);
    int value = 42;
    hsize_t one = 1;
    hid_t space = H5Screate_simple(1, &one, NULL);
    if (file >= 0) {
        hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
        H5Dclose(set);
        H5Fclose(file);
    }
    return 0;
}
