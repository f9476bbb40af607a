// A signal handler that opens, reads and closes files while HDF5 allocates and opens others.
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks, lost;

static void tick(int number) {
    char byte = 0;
    (void)number;
    const int error = errno;
    errno = 77;
    const int file = open("/dev/null", O_RDWR), other = open("/dev/zero", O_RDONLY);
    if (file < 0 || other < 0 || read(other, &byte, 1) != 1 || write(file, &byte, 1) != 1) lost = 1;
    if (errno != 77) lost = 1;
    close(file);
    close(other);
    errno = error;
    ++ticks;
}

int main(int count, char** argument) {
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    const int times = count > 2 ? atoi(argument[2]) : 100;
    int bad = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < times; ++i) {
        hsize_t length = 64;
        double data[64] = {i}, back[64] = {0};
        hid_t file = H5Fcreate(argument[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
              space = H5Screate_simple(1, &length, NULL);
        hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
        H5Dclose(set);
        bad |= H5Fclose(file) < 0;
        file = H5Fopen(argument[1], H5F_ACC_RDONLY, H5P_DEFAULT);
        set = H5Dopen2(file, "v", H5P_DEFAULT);
        bad |= H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0 || back[0] != i;
        H5Dclose(set);
        H5Sclose(space);
        bad |= H5Fclose(file) < 0;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    printf("wrong: %d, lost: %d, signals: %d\n", bad, (int)lost, ticks > 0);
    return bad;
}
