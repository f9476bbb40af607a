#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static ll_start start = {.rank = -1, .ranks = -1, .local_ranks = -1};
const ll_start* const ll_started = &start;

static struct {
    bool there;
    dev_t device;
    ino_t inode;
} errors;
static _Atomic(int) process;

bool ll_own_process(void) { return atomic_load_explicit(&process, memory_order_relaxed) == getpid(); }

static void in_child(void) { atomic_store(&process, getpid()); }

// The first of these variables that holds a number.
static int number_of(const char* const* names, const char** which) {
    for (; *names != NULL; ++names) {
        const char* value = getenv(*names);
        if (value == NULL || value[0] < '0' || value[0] > '9') continue;
        if (which != NULL) *which = *names;
        return (int)strtol(value, NULL, 10);
    }
    return -1;
}

// A relative path means the folder in which the program was started.
static void path_of(const char* variable, char into[LL_ROOM]) {
    const char* value = getenv(variable);
    size_t before = 0;
    if (value == NULL || value[0] == '\0') return;
    if (value[0] != '/' && getcwd(into, LL_ROOM - 1) != NULL) {
        before = strlen(into);
        into[before++] = '/';
    }
    const size_t size = strlen(value);
    if (before + size < LL_ROOM) memcpy(into + before, value, size + 1);
    else into[0] = '\0';
}

// Before the constructors of the other files, which ask what is found here.
__attribute__((constructor(101))) static void begin(void) {
    static const char* const rank[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",   "PMI_RANK",
                                       "SLURM_PROCID",         "PALS_RANKID", NULL};
    static const char* const ranks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "SLURM_NTASKS", NULL};
    static const char* const local[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};
    static const char* const nodes[] = {"SLURM_STEP_NUM_NODES", "SLURM_NNODES", NULL};
    const int error = errno;
    struct stat status;
    if (fstat(2, &status) == 0) {
        errors.there = true;
        errors.device = status.st_dev;
        errors.inode = status.st_ino;
    }
    start.rank = number_of(rank, &start.rank_variable);
    start.ranks = number_of(ranks, NULL);
    start.local_ranks = number_of(local, NULL);
    if (start.local_ranks < 0 && number_of(nodes, NULL) == 1) start.local_ranks = start.ranks;
    path_of("LEADLINE_H5_LOG", start.log);
    path_of("LEADLINE_H5_SETTINGS", start.settings);
    (void)gethostname(start.host, sizeof start.host - 1);
    start.log_is_folder = stat(start.log, &status) == 0 && S_ISDIR(status.st_mode);
    in_child();
    (void)pthread_atfork(NULL, NULL, in_child);
    errno = error;
}

// Blocked signals of a thread stay pending until they are taken away here; one that was pending before is the
// program's own.
void ll_write_quietly(int descriptor, const char* text, size_t size) {
    sigset_t ours, before, pending;
    (void)sigemptyset(&ours);
    (void)sigaddset(&ours, SIGPIPE);
    (void)sigaddset(&ours, SIGXFSZ);
    sigset_t blocked = ours;
    (void)sigaddset(&blocked, SIGTTOU);
    if (sigprocmask(SIG_BLOCK, &blocked, &before) != 0) return;
    (void)sigpending(&pending);
    (void)syscall(SYS_write, descriptor, text, size);  // one call: lines of several ranks stay whole
    if (sigismember(&pending, SIGPIPE) != 0) (void)sigdelset(&ours, SIGPIPE);
    if (sigismember(&pending, SIGXFSZ) != 0) (void)sigdelset(&ours, SIGXFSZ);
    const struct timespec now = {0, 0};
    while (sigtimedwait(&ours, NULL, &now) > 0) {}
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
}

// The number 2 may belong to a file of the program's by now. A duplicate is looked at, which nobody else can
// close or replace meanwhile, and kept no longer than this: a pipe's reader waits for all of its writers.
void ll_write_error(const char* text, size_t size) {
    enum { HIGH = 256 };
    struct stat status;
    if (!errors.there) return;
    int own = (int)syscall(SYS_fcntl, 2, F_DUPFD_CLOEXEC, HIGH);
    if (own < 0) own = (int)syscall(SYS_fcntl, 2, F_DUPFD_CLOEXEC, 3);
    if (own < 0) return;
    struct pollfd room = {.fd = own, .events = POLLOUT};
    if (fstat(own, &status) == 0 && status.st_dev == errors.device && status.st_ino == errors.inode &&
        poll(&room, 1, 0) == 1 && (room.revents & POLLOUT) != 0)
        ll_write_quietly(own, text, size);
    (void)syscall(SYS_close, own);
}
