// Much at once of what programs do round HDF5: signals, threads, fork, vfork, duplicated and closed descriptors,
// files that must be new. Arguments: a number that chooses what, and a folder. Whatever is preloaded, the same
// number prints the same.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 1100, LENGTH = 3000 };
static char folder[1000];
static uint64_t state;
static volatile sig_atomic_t lost;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static void path_of(char* into, const char* name, int number) {
    snprintf(into, PATH, "%s/%s%d", folder, name, number);
}

static void tick(int number) {
    char byte = 1;
    (void)number;
    const int error = errno, file = open("/dev/zero", O_RDWR);
    const int other = dup(file);
    if (file < 0 || other < 0 || read(other, &byte, 1) != 1 || byte != 0 || write(file, &byte, 1) != 1) lost = 1;
    close(other);
    close(file);
    errno = error;
}

static void* plain_files(void* number) {
    char name[PATH], byte[100], back[100];
    path_of(name, "plain", (int)(intptr_t)number);
    for (int i = 0; i < 60; ++i) {
        memset(byte, i, sizeof byte);
        const int file = open(name, O_CREAT | O_RDWR | (i % 2 ? O_TRUNC : 0), 0600), more = dup(file);
        errno = 5;
        if (file < 0 || pwrite(more, byte, sizeof byte, i) != sizeof byte || errno != 5) return "wrong";
        if (pread(file, back, sizeof back, i) != sizeof back || memcmp(byte, back, sizeof byte) != 0) return "wrong";
        close(more);
        close(file);
    }
    return NULL;
}

// Writes a dataset and reads it back by a second opening; what was wrong.
static int write_one(const char* name, unsigned flags, int value, int chunked) {
    static double data[LENGTH], back[LENGTH];
    hsize_t length = LENGTH, chunk = 500;
    for (int i = 0; i < LENGTH; ++i) data[i] = i * value;
    hid_t file = H5Fcreate(name, flags, H5P_DEFAULT, H5P_DEFAULT);
    if (file < 0) return 100;
    hid_t space = H5Screate_simple(1, &length, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    if (chunked) H5Pset_chunk(list, 1, &chunk);
    hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    int bad = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0;
    H5Dclose(set);
    bad += 2 * (H5Fclose(file) < 0);
    file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    set = H5Dopen2(file, "v", H5P_DEFAULT);
    bad += 4 * (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0);
    bad += 8 * (memcmp(data, back, sizeof data) != 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
    return bad + 16 * (H5Fclose(file) < 0);
}

static int ended(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

// A child that writes by HDF5, or closes all it has and writes a file of its own; while a file of HDF5 is open.
static int forked(int number) {
    char name[PATH];
    path_of(name, "child", number);
    const int closes = (int)draw(3);
    const pid_t child = fork();
    if (child != 0) return ended(child);
    if (closes == 0) _exit(write_one(name, H5F_ACC_TRUNC, number, 0));
    if (closes == 1) close_range(3, ~0u, 0);
    for (int i = 3; closes == 2 && i < 100; ++i) close(i);
    const int own = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    _exit(write(own, name, strlen(name)) != (ssize_t)strlen(name) || own != 3);
}

static int vforked(void) {
    char* const words[] = {"true", NULL};
    const pid_t child = vfork();
    if (child == 0) {
        for (int i = 3; i < 40; ++i) close(i);
        dup2(2, 9);
        execv("/bin/true", words);
        _exit(9);
    }
    return ended(child);
}

static int spawned(void) {
    extern char** environ;
    char* const words[] = {"true", NULL};
    pid_t child = 0;
    return posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) != 0 || ended(child) != 0;
}

// Duplicates HDF5's descriptor and puts the duplicate in its place, in one step: other threads take free numbers.
static int moved(const char* name) {
    void* handle = NULL;
    hid_t file = H5Fopen(name, H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0 || H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0) return 1;
    const int number = *(int*)handle, copy = fcntl(number, F_DUPFD_CLOEXEC, 200);
    int bad = copy < 200 || fsync(copy) != 0 || dup2(copy, number) != number;
    close(copy);
    return bad | (H5Fclose(file) < 0);
}

static int one(int number, unsigned what) {
    char name[PATH];
    path_of(name, "file", number);
    switch (what) {
        case 0: return forked(number);
        case 1: return vforked();
        case 2: return spawned();
        case 3: return write_one(name, H5F_ACC_EXCL, number, 1) + moved(name);
        case 4: return write_one(name, H5F_ACC_TRUNC, number, 0) + (write_one(name, H5F_ACC_EXCL, 7, 0) != 100);
        case 5: {
            path_of(name, "none/file", number);
            errno = 0;
            const int failed = write_one(name, H5F_ACC_TRUNC, number, 0) == 100;
            return !failed;
        }
        default: return write_one(name, H5F_ACC_TRUNC, number, 1);
    }
}

int main(int count, char** argument) {
    if (count != 3) return 2;
    state = strtoull(argument[1], NULL, 10) + 1;
    snprintf(folder, sizeof folder, "%s", argument[2]);
    const unsigned closed = draw(4), signals = draw(2), threads = draw(3);
    if (closed == 0) close(2);
    if (closed == 1) close(0);
    char name[PATH];
    path_of(name, "own", 0);
    const int own = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &action, NULL);
    if (signals) setitimer(ITIMER_REAL, &often, NULL);
    pthread_t thread[2];
    for (unsigned i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, plain_files, (void*)(intptr_t)i);
    int bad[12];
    for (int i = 0; i < 12; ++i) bad[i] = one(i, draw(8));
    for (unsigned i = 0; i < threads; ++i) {
        void* told = NULL;
        pthread_join(thread[i], &told);
        lost |= told != NULL;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    int all = write(own, "mine\n", 5) != 5;
    printf("lost %d, wrong", (int)lost);
    for (int i = 0; i < 12; ++i) printf(" %d", bad[i]), all |= bad[i];
    printf("\n");
    fflush(stdout);
    if (getenv("ENDS_AT_ONCE") != NULL) _exit(all);
    return all;
}
