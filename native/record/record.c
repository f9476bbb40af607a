/* Where entries go: a file for each process, mapped piece by piece. */
#include "record.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PIECE ((size_t)4 << 20) /* of the file that is mapped at a time; entries may be as long */
#define LAST ((size_t)256)      /* bytes of it that are kept for why the record stops */
#define GAP 1e3                 /* ns: computation between two tests that found nothing is longer */

/* Five words before an entry's numbers. */
struct head {
    uint32_t words; /* of the whole entry, 8 B each */
    uint8_t kind, form, mode, thread;
    int64_t enter, leave, site;
    int64_t polled; /* ns before `enter` that were waiting, in tests that found nothing */
};

atomic_bool lr_on;
_Thread_local struct lr_thread lr_own;
static atomic_flag busy = ATOMIC_FLAG_INIT;
/* The file is open only while a piece of it is mapped: nothing is closed with the program's descriptors, and
 * none is kept beyond the first 64, for which Linux waits 15 ms in a process of several threads. */
static char path[PATH_MAX];
static bool begun_file;
static char* piece;                /* mapped memory */
static size_t used, begun;         /* bytes of it that are written; where it begins in the file */
static int64_t began, began_ticks; /* one moment by both clocks */
static bool counts;                /* ticks are the processor's counter, not ns */
static _Atomic double tick = 1;    /* ns */
static atomic_int threads;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Of tests the processor's counter is read, where it runs at one rate: it costs a third of the clock. */
int64_t lr_ticks(void) {
#ifdef __x86_64__
    if (counts) return (int64_t)__builtin_ia32_rdtsc();
#endif
    return now();
}

static void begin_ticks(void) {
#ifdef __x86_64__
    unsigned a, b, c, d;
    counts = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)); /* invariant TSC */
#endif
    began = now();
    began_ticks = lr_ticks();
}

/* The length of a tick, from the whole time since the beginning. */
static void measure_tick(int64_t time, int64_t at) {
    if (counts && at > began_ticks && time > began)
        tick = (double)(time - began) / (double)(at - began_ticks);
}

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {}
}
static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

/* Whether the disk has room for the bytes, which the file has then. No signal comes between: one would end
 * the reservation as if there was none, and be the program's last word where it is to end. */
static bool reserved(int file, size_t start, size_t bytes) {
    sigset_t all, before;
    sigfillset(&all);
    const bool held = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    int wrong = EINTR;
    while (wrong == EINTR) wrong = posix_fallocate(file, (off_t)start, (off_t)bytes);
    if (held) pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wrong == 0;
}

/* The next piece of the file; false where the disk is full. Reserved before it is mapped: writing into a hole
 * of a full disk would be a signal to the program. */
static bool next_piece(void) {
    const size_t at = piece ? begun + used : 0;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t start = at / page * page;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return false;
    char* fresh = MAP_FAILED;
    if (reserved(file, start, 2 * PIECE))
        fresh = mmap(NULL, 2 * PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)start);
    else if (!piece && ftruncate(file, 0) != 0) errno = 0; /* a part may have been reserved */
    close(file);
    if (fresh == MAP_FAILED) return false;
    if (piece) munmap(piece, 2 * PIECE);
    piece = fresh;
    begun = start;
    used = at - start;
    return true;
}

/* Room for so many bytes; null where there is none. The lock is held. */
static void* room(size_t bytes) {
    if (bytes > PIECE) return NULL;
    if ((!piece || used + bytes + LAST > 2 * PIECE) && !next_piece()) return NULL;
    void* place = piece + used;
    used += bytes;
    return place;
}

/* An entry that is a text, which has zeros behind it; its bytes. */
static size_t put_text(char* place, int kind, const char* text, int64_t at) {
    const size_t length = strlen(text), words = 5 + (length + 7) / 8;
    const struct head head = {.words = (uint32_t)words,
                              .kind = (uint8_t)kind,
                              .mode = (uint8_t)(length % 8),
                              .thread = (uint8_t)(lr_own.number > 255 ? 255 : lr_own.number),
                              .enter = at,
                              .leave = at};
    memcpy(place + sizeof head, text, length);
    memcpy(place, &head, sizeof head);
    return 8 * words;
}

static const char no_room[] = "there is no room for the record (disk or memory)";

static void stop(const char* why) {
    atomic_store(&lr_on, false);
    if (piece && used + LAST <= 2 * PIECE) used += put_text(piece + used, LR_STOPPED, why, 0);
}

/* What a process says of itself where it has no piece of the file: a few bytes that the disk may have. */
static void begin_without_room(const char* facts) {
    char text[4096] = {0};
    const size_t first = put_text(text, LR_META, facts, now());
    const size_t length = first + put_text(text + first, LR_STOPPED, no_room, 0);
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    if (write(file, text, length) < 0) errno = 0;
    close(file);
}

bool lr_enter(struct lr_call* call, const void* site) {
    if (!lr_begins(call, site)) return false;
    call->enter = now();
    return true;
}
void lr_leave(struct lr_call* call) { call->leave = now(); }

void lr_read_poll(const struct lr_call* call) {
    const int64_t leave = lr_ticks();
    if (!lr_own.polls.last) measure_tick(now(), leave);
    lr_polls_fail(&lr_own.polls, call->site, call->enter, leave, GAP / tick);
}

/* When a call was entered and left, ns; its tests that found nothing are counted as far as they came before.
 */
static struct lr_call ended(const struct lr_call* call) {
    struct lr_polls* const polls = &lr_own.polls;
    struct lr_call found = *call;
    if (call->leave) {
        if (polls->last)
            lr_polls_follow(polls, lr_ticks() - (int64_t)((double)(now() - call->enter) / tick), GAP / tick);
        return found;
    }
    const int64_t at = lr_ticks();
    found.leave = now();
    measure_tick(found.leave, at);
    const int64_t enter = call->enter ? call->enter : lr_polls_entered(polls, at);
    lr_polls_follow(polls, enter, GAP / tick);
    found.enter = found.leave - (int64_t)((double)(at - enter) * tick);
    return found;
}

void lr_note(const struct lr_call* call, int kind, int form, int mode, const int64_t* values, size_t count) {
    if (lr_own.number == 0) lr_own.number = 1 + atomic_fetch_add(&threads, 1);
    lock();
    if (atomic_load_explicit(&lr_on, memory_order_relaxed)) {
        const size_t words = 5 + count;
        char* place = room(8 * words);
        if (place) {
            const struct lr_call times = ended(call);
            const struct head head = {.words = (uint32_t)words,
                                      .kind = (uint8_t)kind,
                                      .form = (uint8_t)form,
                                      .mode = (uint8_t)mode,
                                      .thread = (uint8_t)(lr_own.number > 255 ? 255 : lr_own.number),
                                      .enter = times.enter,
                                      .leave = times.leave,
                                      .site = (int64_t)(intptr_t)call->site,
                                      .polled = (int64_t)((double)lr_polls_end(&lr_own.polls) * tick)};
            memcpy(place + sizeof head, values, 8 * count);
            /* Last what says that an entry is here: one that was begun when the process was killed is none.
             */
            memcpy(place + 8, (const char*)&head + 8, sizeof head - 8);
            atomic_signal_fence(memory_order_release);
            memcpy(place, &head, 8);
        } else {
            stop(8 * words > PIECE ? "a call has more numbers than the record can keep" : no_room);
        }
    }
    unlock();
}

void lr_text(int kind, const char* text) {
    const size_t length = strlen(text), words = (length + 7) / 8;
    int64_t values[256] = {0};
    if (words > 256) return;
    memcpy(values, text, length);
    const int64_t at = now();
    const struct lr_call call = {.enter = at, .leave = at};
    lr_note(&call, kind, 0, (int)(length % 8), values, words);
}

void lr_jumped(void) {
    lr_text(LR_OUTSIDE, "what a call did that was left by a jump (an error handler's longjmp, an exception)");
}

/* A child shares the mapped memory and must not write to it; it is another program. */
static void in_child(void) {
    atomic_store(&lr_on, false);
    atomic_flag_clear(&busy);
}

static void facts(char* text, size_t size) {
    char host[256] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int rank = 0, ranks = 0, length = 0, level = 0;
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    gethostname(host, sizeof host - 1);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Get_library_version(library, &length);
    PMPI_Query_thread(&level);
    library[strcspn(library, "\n")] = 0;
    for (char* c = library; *c; ++c)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < 32) *c = ' ';
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    const char* session = getenv("LEADLINE_RECORD_ID");
    snprintf(text, size,
             "{\"rank\":%d,\"ranks\":%d,\"host\":\"%s\",\"pid\":%ld,\"threads\":%d,\"world\":%lld,"
             "\"self\":%lld,\"spawned\":%d,\"session\":\"%.64s\",\"clock_offset\":%lld,\"mpi\":\"%.300s\"}",
             rank, ranks, host, (long)getpid(), level, (long long)lr_comm_handle(MPI_COMM_WORLD),
             (long long)lr_comm_handle(MPI_COMM_SELF), parent != MPI_COMM_NULL, session ? session : "",
             (long long)((int64_t)real.tv_sec * 1000000000 + real.tv_nsec - now()), library);
}

/* Where code lies, so that addresses can be named after the run; beside the file. */
static void keep_maps(void) {
    char name[PATH_MAX + 8];
    snprintf(name, sizeof name, "%s.maps", path);
    const int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const int to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    char block[8192];
    ssize_t got = 0;
    while (from >= 0 && to >= 0 && (got = read(from, block, sizeof block)) > 0)
        if (write(to, block, (size_t)got) != got) break;
    if (from >= 0) close(from);
    if (to >= 0) close(to);
}

/* B of a line of /proc/self/status, such as "VmHWM:"; -1 where there is none. */
static int64_t status_of(const char* text, const char* name) {
    const char* line = strstr(text, name);
    return line ? 1024 * strtoll(line + strlen(name), NULL, 10) : -1;
}

/* B of memory that the process had at most, without what it shares with others or has of files: what its
 * computation can have walked through, to about 1 MiB. -1 where the system does not say. */
static int64_t own_memory(void) {
    char text[4096] = "";
    const int from = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t length = from < 0 ? -1 : read(from, text, sizeof text - 1);
    if (from >= 0) close(from);
    if (length <= 0) return -1;
    const int64_t most = status_of(text, "VmHWM:"), files = status_of(text, "RssFile:"),
                  shared = status_of(text, "RssShmem:");
    return most < 0 || files < 0 || shared < 0 ? -1 : most - files - shared;
}
static int64_t memory_begun; /* after MPI_Init: the library's, for the most part */

/* A new file of this process in the directory of the record; -1 where none is wanted or can be made. */
static int create(const char* suffix) {
    const char* directory = getenv("LEADLINE_RECORD");
    if (!directory || !*directory) return -1;
    char host[256] = "", whole[PATH_MAX]; /* the program may change its directory */
    gethostname(host, sizeof host - 1);
    if (!realpath(directory, whole)) return -1;
    const int length = snprintf(path, sizeof path, "%s/%s-%ld.%s", whole, host, (long)getpid(), suffix);
    if (length >= (int)sizeof path) return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

void lr_other(const char* version) {
    const int opened = create("other");
    if (opened < 0) return;
    if (write(opened, version, strcspn(version, "\n")) < 0) errno = 0;
    close(opened);
}

void lr_begin(void) {
    if (begun_file) return;
    const int opened = create("raw");
    if (opened < 0) return;
    close(opened);
    begun_file = true;
    pthread_atfork(NULL, NULL, in_child);
    static char text[2000];
    facts(text, sizeof text);
    begin_ticks();
    memory_begun = own_memory();
    const bool has_room = next_piece();
    if (!has_room) begin_without_room(text);
    keep_maps(); /* and again at the end, when more may be loaded */
    if (!has_room) return;
    atomic_store(&lr_on, true);
    lr_text(LR_META, text);
}

void lr_finish(const struct lr_call* call) {
    const int64_t memory = own_memory();
    const int64_t added = memory > memory_begun ? memory - memory_begun : 0;
    lr_note(call, LR_FINALIZE, 0, 0, &added, memory >= 0 && memory_begun >= 0);
    keep_maps();
    lock();
    atomic_store(&lr_on, false);
    if (piece) {
        const off_t length = (off_t)(begun + used);
        munmap(piece, 2 * PIECE);
        piece = NULL;
        if (truncate(path, length) != 0) errno = 0; /* the rest is zeros: no entries */
    }
    unlock();
}
