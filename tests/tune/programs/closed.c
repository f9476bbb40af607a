// Closes standard error and opens a file of its own, which gets number 2; then writes a file by HDF5.
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** argument) {
    const char text[] = "the program's own data\n";
    close(2);
    const int own = open(argument[1], O_CREAT | O_TRUNC | O_RDWR, 0600);
    printf("number: %d\n", own);
    hid_t file = H5Fcreate(argument[count - 1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    int bad = write(own, text, strlen(text)) < 0 || H5Fclose(file) < 0;
    printf("wrong: %d\n", bad);
    return bad;
}
