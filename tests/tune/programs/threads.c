// HDF5 in one thread while others read and write files of their own, then a child that writes one with HDF5.
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[1024];

static void* busy(void* number) {
    char name[1100], byte[64] = "";
    snprintf(name, sizeof name, "%s/plain%d", folder, (int)(long)number);
    for (int i = 0; i < 2000; ++i) {
        int file = open(name, O_CREAT | O_RDWR, 0600);
        if (file < 0 || write(file, byte, sizeof byte) != sizeof byte || pread(file, byte, 8, 3) != 8) return "wrong";
        close(file);
    }
    return NULL;
}

static int write_one(const char* last, int value) {
    char name[1100];
    int back = 0;
    hsize_t length = 1;
    snprintf(name, sizeof name, "%s/%s", folder, last);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &length, NULL);
    hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
    H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, &back);
    H5Dclose(set);
    return H5Fclose(file) < 0 || back != value;
}

int main(int count, char** argument) {
    pthread_t thread[4];
    int bad = count != 2, status = 1;
    snprintf(folder, sizeof folder, "%s", argument[1]);
    for (long i = 0; i < 4; ++i) pthread_create(&thread[i], NULL, busy, (void*)i);
    for (int i = 0; i < 50; ++i) bad |= write_one("main.h5", i);
    pid_t child = fork();
    if (child == 0) _exit(write_one("child.h5", 7));
    waitpid(child, &status, 0);
    for (int i = 0; i < 4; ++i) {
        void* told = NULL;
        pthread_join(thread[i], &told);
        bad |= told != NULL;
    }
    printf("wrong: %d, child: %d\n", bad, status);
    fflush(stdout);
    if (getenv("ENDS_AT_ONCE") != NULL) _exit(0);
    return 0;
}
