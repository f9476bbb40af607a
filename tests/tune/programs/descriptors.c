// Does what programs do with descriptors to the one of HDF5's file. The second argument says what; what the
// program writes by itself goes into a file of its own.
#define _GNU_SOURCE
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static hid_t make(const char* name, int* descriptor) {
    void* handle = NULL;
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fget_vfd_handle(file, H5P_DEFAULT, &handle);
    *descriptor = *(int*)handle;
    return file;
}

int main(int count, char** argument) {
    const char* what = count > 2 ? argument[2] : "";
    char byte[1000] = "", place[8];
    struct iovec part = {byte, sizeof byte};
    int number = -1, bad = 0;
    hid_t file = make(argument[1], &number);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const off_t end = lseek(number, 0, SEEK_END);
    if (strcmp(what, "dup") == 0) {
        // 1000 bytes through each of three duplicates; HDF5's own stays open.
        int copy[3] = {dup(number), fcntl(number, F_DUPFD, 50), fcntl(number, F_DUPFD_CLOEXEC, 60)};
        for (int i = 0; i < 3; ++i) {
            bad |= pwrite(copy[i], byte, sizeof byte, end + 8192) != sizeof byte;
            close(copy[i]);
        }
    } else if (strcmp(what, "dup2") == 0) {
        bad |= dup2(number, 70) != 70 || pwrite(70, byte, sizeof byte, end + 8192) != sizeof byte;
        // Now 70 is a file of the program's.
        int own = open("own", O_CREAT | O_RDWR, 0600);
        bad |= dup2(own, 70) != 70 || write(70, byte, sizeof byte) != sizeof byte || dup3(own, 70, O_CLOEXEC) != 70;
        bad |= write(70, byte, sizeof byte) != sizeof byte || dup2(-1, 70) != -1;
    } else if (strcmp(what, "preadv2") == 0) {
        bad |= pwritev2(number, &part, 1, end + 8192, 0) != sizeof byte;
        bad |= preadv2(number, &part, 1, end + 8192, 0) != sizeof byte;
        lseek(number, end + 8192, SEEK_SET);
        bad |= preadv2(number, &part, 1, -1, 0) != sizeof byte;
    } else if (strcmp(what, "close_range") == 0) {
        // HDF5's descriptor goes, and a file of the program's gets its number.
        bad |= close_range((unsigned)number, (unsigned)number, 0) != 0;
        int own = open("own", O_CREAT | O_RDWR, 0600);
        bad |= own != number;
        for (int i = 0; i < 10; ++i) bad |= write(own, byte, sizeof byte) != sizeof byte;
    } else if (strcmp(what, "hidden") == 0) {
        // The same, where no library can see it.
        bad |= syscall(3, number) != 0;  // SYS_close of x86-64
        FILE* own = fopen("own", "w+");
        bad |= own == NULL || fileno(own) != number;
        for (int i = 0; i < 10; ++i) bad |= write(number, byte, sizeof byte) != sizeof byte;
    } else if (strcmp(what, "creat") == 0) {
        bad |= syscall(3, number) != 0;
        int own = creat("own", 0600);
        bad |= own != number;
        for (int i = 0; i < 10; ++i) bad |= write(own, byte, sizeof byte) != sizeof byte;
    }
    snprintf(place, sizeof place, "%d", bad);
    printf("wrong: %s\n", place);
    fflush(stdout);
    if (access("own", F_OK) == 0 && strcmp(what, "dup2") != 0) {
        close(number);
        _exit(bad);  // HDF5 would write its metadata into the program's own file
    }
    H5Fclose(file);
    return bad;
}
