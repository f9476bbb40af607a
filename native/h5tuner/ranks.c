#include "ranks.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "start.h"

typedef enum { UNKNOWN, ALONE, ALL } verdict;
static _Atomic(verdict) known;
static ll_handle own_world;  // a duplicate of MPI_COMM_WORLD, where the verdict is ALL
static char marks[LL_ROOM];  // the file of marks, eight bytes a rank; empty: there is none
static char decided[LL_ROOM + 16];
static int marked_by;  // the process that named them

static bool has(const char* text, size_t size, const char* variable) {
    const size_t length = strlen(variable);
    for (const char* at = text; at < text + size; at += strlen(at) + 1)
        if (strncmp(at, variable, length) == 0 && at[length] == '=') return true;
    return false;
}

// At most `room - 1` bytes of a file of /proc; -1 where it cannot be read.
static ssize_t read_of(long process, const char* name, char* into, size_t room) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    size_t size = 0;
    for (ssize_t more = 1; size < room - 1 && more > 0; size += more > 0 ? (size_t)more : 0)
        more = read(file, into + size, room - 1 - size);
    (void)close(file);
    into[size] = '\0';
    return (ssize_t)size;
}

// The parent and the time at which a process was started: fields 4 and 22 of its `stat`, counted behind the
// program's name, which may hold anything.
static bool parent_of(long process, long* parent, unsigned long long* started) {
    char text[1024];
    if (read_of(process, "stat", text, sizeof text) <= 0) return false;
    const char* at = strrchr(text, ')');
    return at != NULL && sscanf(at + 1,
                                " %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                                "%*d %llu",
                                parent, started) == 2;
}

// The launcher on this node: the nearest ancestor without the variable by which it gives a process its rank.
// The ranks of a node have it in common, and none of another job has.
static bool name_launcher(char* into, size_t room) {
    enum { GENERATIONS = 32, ENVIRONMENT = 1 << 20 };
    char* text = malloc(ENVIRONMENT);
    long process = getpid(), parent = 0;
    unsigned long long started = 0;
    bool found = false;
    for (int i = 0; text != NULL && i < GENERATIONS && !found; ++i) {
        if (!parent_of(process, &parent, &started) || parent <= 0) break;
        const ssize_t size = read_of(parent, "environ", text, ENVIRONMENT);
        process = parent;
        found = size < 0 || !has(text, (size_t)size, ll_started->rank_variable);
    }
    free(text);
    if (!found || !parent_of(process, &parent, &started)) return false;
    const char* space = getenv("PMIX_NAMESPACE");  // of those that MPI_Comm_spawn starts another
    return snprintf(into, room, "%ld-%llu-%s", process, started, space != NULL ? space : "") < (int)room;
}

// A name for the job that its ranks on all nodes have in common.
static bool name_job(char* into, size_t room) {
    const char *given = getenv("LEADLINE_H5_JOB"), *space = getenv("PMIX_NAMESPACE"),
               *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    if (given != NULL && given[0] != '\0') return snprintf(into, room, "%s", given) < (int)room;
    if (space != NULL) return snprintf(into, room, "%s", space) < (int)room;
    return job != NULL && step != NULL && snprintf(into, room, "%s.%s", job, step) < (int)room;
}

// Shared memory for the ranks of one node; else the folder of the log, which all nodes have or nothing is
// set.
static bool name_marks(void) {
    char job[256], folder[LL_ROOM] = "/dev/shm";
    const bool one_node = ll_started->local_ranks == ll_started->ranks;
    if (one_node ? !name_launcher(job, sizeof job) : !name_job(job, sizeof job)) return false;
    for (char* c = job; *c != '\0'; ++c)
        if (!isalnum((unsigned char)*c)) *c = '-';
    if (!one_node) {
        (void)strcpy(folder, ll_started->log);
        char* last = ll_started->log_is_folder ? NULL : strrchr(folder, '/');
        if (last != NULL) *last = '\0';
        if (folder[0] == '\0') return false;
    }
    const int size = snprintf(marks, sizeof marks, "%s/leadline-h5-%ld-%s", folder, (long)getuid(), job);
    if (size < 0 || (size_t)size >= sizeof marks) marks[0] = '\0';
    (void)snprintf(decided, sizeof decided, "%s.verdict", marks);
    marked_by = getpid();
    return marks[0] != '\0';
}

// The mark of these settings: never 0, which is what a rank leaves that leaves nothing.
static uint64_t mark_of(const ll_settings* settings) { return settings->hash | 1; }

static bool is_own(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == getuid();
}

void ll_before_init(void) {
    const ll_settings* settings = ll_settings_here();
    const int rank = ll_started->rank;
    if (settings->count == 0 || rank < 0 || ll_started->ranks < 2 || !name_marks()) return;
    const int file = open(marks, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return;
    const uint64_t mark = mark_of(settings);
    if (is_own(file)) (void)pwrite(file, &mark, sizeof mark, (off_t)rank * (off_t)sizeof mark);
    (void)close(file);
}

// How many of `ranks` ranks left this mark.
static int count_marks(int ranks, uint64_t mark) {
    uint64_t part[512];
    int count = 0;
    const int file = marks[0] != '\0' ? open(marks, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (file < 0) return 0;
    for (int done = 0; done < ranks && is_own(file);) {
        const ssize_t size = pread(file, part, sizeof part, (off_t)done * (off_t)sizeof *part);
        const int whole = size > 0 ? (int)((size_t)size / sizeof *part) : 0;
        for (int i = 0; i < whole && done + i < ranks; ++i) count += part[i] == mark;
        if (whole == 0) break;
        done += whole;
    }
    (void)close(file);
    return count;
}

static void forget_marks(void) {
    if (marks[0] == '\0' || marked_by != getpid()) return;
    (void)unlink(marks);
    (void)unlink(decided);
    marks[0] = '\0';
}

// The verdict as it stands; false where it is another user's.
static bool read_verdict(char what[8]) {
    struct stat status;
    return lstat(decided, &status) == 0 && status.st_uid == getuid() && readlink(decided, what, 7) > 0;
}

// What the first of the ranks found. A symbolic link is made whole or not at all, by one of them alone.
static bool all_marked(int ranks) {
    char what[8] = "";
    const int count = count_marks(ranks, mark_of(ll_settings_here()));
    const bool first = marks[0] != '\0' && symlink(count == ranks ? "all" : "some", decided) == 0;
    if (marks[0] != '\0' && read_verdict(what) && strcmp(what, "all") == 0) return true;
    if (first)
        ll_say_alone(
            "%d of %d ranks have this library and the same settings; have LD_PRELOAD and "
            "LEADLINE_H5_SETTINGS reach all of them (mpirun -x, srun --export=ALL); nothing is set",
            count, ranks);
    else if (marks[0] == '\0')
        ll_say(
            "whether all %d ranks have this library cannot be found out under this launcher; name the job "
            "by LEADLINE_H5_JOB and a log in a shared folder by LEADLINE_H5_LOG; nothing is set",
            ranks);
    return false;
}

// A duplicate whose errors are returned. Nobody but us can be in a collective call of the world's yet.
static bool duplicate_world(const ll_mpi* m) {
    ll_handle before = 0;
    if (m->Comm_get_errhandler(m->world, &before) != 0) return false;
    (void)m->Comm_set_errhandler(m->world, m->errors_return);
    const bool good =
        m->Comm_dup(m->world, &own_world) == 0 && m->Comm_set_errhandler(own_world, m->errors_return) == 0;
    (void)m->Comm_set_errhandler(m->world, before);
    (void)m->Errhandler_free(&before);
    return good;
}

void ll_after_init(const ll_mpi* m) {
    int ranks = 0;
    if (ll_settings_here()->count == 0) return;
    if (m == NULL || m->Comm_size(m->world, &ranks) != 0) {
        ll_say("the MPI is of an unknown family; nothing is set");
        ll_set_nothing();
    } else if (ranks == 1) {
        atomic_store(&known, ALONE);
    } else if (all_marked(ranks) && duplicate_world(m)) {
        atomic_store(&known, ALL);
        if (ll_started->rank == 0) forget_marks();  // all have read them, or the duplicate would not be there
        marks[0] = '\0';
    } else {
        ll_set_nothing();
    }
}

bool ll_ranks_unknown(const ll_mpi* m) {
    int runs = 0;
    return atomic_load(&known) == UNKNOWN && m->Initialized(&runs) == 0 && runs != 0;
}

static bool in_world(const ll_mpi* m, ll_handle group) {
    ll_handle world = 0, both = 0;
    int size = 0, common = -1;
    if (m->Comm_group(own_world, &world) != 0) return false;
    if (m->Group_intersection(group, world, &both) == 0) {
        if (m->Group_size(group, &size) != 0 || m->Group_size(both, &common) != 0) common = -1;
        (void)m->Group_free(&both);
    }
    (void)m->Group_free(&world);
    return size == common;
}

bool ll_ranks_agree(const ll_mpi* m, ll_handle communicator) {
    ll_handle group = 0;
    int size = 0;
    if (m->Comm_size(communicator, &size) != 0) return false;
    if (size == 1) return true;
    if (atomic_load(&known) != ALL || m->Comm_group(communicator, &group) != 0) return false;
    const bool all = in_world(m, group);
    (void)m->Group_free(&group);
    return all;
}

bool ll_all_failed_on(const ll_mpi* m, ll_handle own, bool failed) {
    const int mine = failed;
    int all = 0;
    return m->Allreduce(&mine, &all, 1, m->int_type, m->and_bits, own) == 0 && all != 0;
}

// A communicator of these ranks alone, made from ours. The last part of the file's name, which all ranks have
// alike, tells those apart that threads make at the same time.
bool ll_all_failed(const ll_mpi* m, ll_handle communicator, const char* file, bool failed) {
    enum { TAGS = 32767 };  // that every MPI has
    ll_handle group = 0, own = 0;
    int size = 0;
    bool all = false;
    unsigned tag = 0;
    if (m->Comm_size(communicator, &size) != 0) return false;
    if (size == 1) return failed;
    for (const char* c = file; *c != '\0'; ++c) tag = *c == '/' ? 0 : tag * 31 + (unsigned char)*c;
    if (m->Comm_group(communicator, &group) != 0) return false;
    if (m->Comm_create_group(own_world, group, (int)(tag % TAGS), &own) == 0) {
        all = ll_all_failed_on(m, own, failed);
        (void)m->Comm_free(&own);
    }
    (void)m->Group_free(&group);
    return all;
}

__attribute__((destructor)) static void finish(void) { forget_marks(); }
