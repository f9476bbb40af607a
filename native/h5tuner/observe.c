#include "observe.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "start.h"
#include "stripes.h"

_Atomic(ll_observed*) ll_descriptor[LL_DESCRIPTORS];
static ll_observed files[LL_FILES];  // of which the system gives memory to those alone that are used
static _Atomic(int) opened;
static _Atomic(int) missed;  // for which there was no place

// Multiplies and folds, as wyhash does: enough that two different calls do not look alike by chance.
static uint64_t mixed(uint64_t a, uint64_t b) {
    const unsigned __int128 product =
        (unsigned __int128)(a ^ 0xa0761d6478bd642fu) * (b ^ 0xe7037ed1a0b428dbu);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static int bucket(uint64_t size) {
    const int power = size == 0 ? 0 : 63 - __builtin_clzll(size);
    return power < LL_BUCKETS ? power : LL_BUCKETS - 1;
}

static void note(ll_observed* file, ll_direction direction, uint64_t offset, uint64_t size) {
    const uint64_t call = mixed(offset * 2 + direction, size);
    atomic_fetch_add_explicit(&file->calls[direction], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->bytes[direction], size, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->sizes[direction][bucket(size)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->set, call, memory_order_relaxed);
    const uint64_t before = atomic_load_explicit(&file->sequence, memory_order_relaxed);
    atomic_store_explicit(&file->sequence, mixed(before, call), memory_order_relaxed);
}

// In a child of vfork() the table is its parent's, and the number may be another file's.
void ll_note_transfer(ll_observed* file, ll_direction direction, uint64_t offset, uint64_t size) {
    if (ll_own_process()) note(file, direction, offset, size);
}

void ll_note_here(ll_observed* file, ll_direction direction, uint64_t size) {
    if (ll_own_process())
        note(file, direction, atomic_fetch_add_explicit(&file->position, size, memory_order_relaxed), size);
}

void ll_note_seek(ll_observed* file, uint64_t position) {
    if (!ll_own_process()) return;
    atomic_fetch_add_explicit(&file->seeks, 1, memory_order_relaxed);
    atomic_store_explicit(&file->position, position, memory_order_relaxed);
}

void ll_note_sync(ll_observed* file) {
    if (ll_own_process()) atomic_fetch_add_explicit(&file->syncs, 1, memory_order_relaxed);
}

static void sizes(ll_line* line, const char* key, ll_observed* file, ll_direction direction) {
    char json[LL_BUCKETS * 34] = "{";
    size_t size = 1;
    for (int i = 0; i < LL_BUCKETS; ++i) {
        const uint32_t count = atomic_load(&file->sizes[direction][i]);
        if (count == 0) continue;
        if (size > 1) json[size++] = ',';
        json[size++] = '"';
        size += ll_digits(json + size, (uint64_t)1 << i);
        json[size++] = '"';
        json[size++] = ':';
        size += ll_digits(json + size, count);
    }
    json[size++] = '}';
    json[size] = '\0';
    ll_raw(line, key, json);
}

static void hash(ll_line* line, const char* key, uint64_t value) {
    char text[17] = "";
    for (int i = 15; i >= 0; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15];
    ll_text(line, key, text);
}

static void tell(ll_observed* file) {
    // Opened to see whether it is there.
    if (file->calls[LL_READ] + file->calls[LL_WRITE] + file->seeks + file->syncs == 0) return;
    ll_line line;
    ll_begin(&line, "observed");
    ll_text(&line, "file", file->path);
    ll_number(&line, "writes", file->calls[LL_WRITE]);
    ll_number(&line, "bytes_written", file->bytes[LL_WRITE]);
    ll_number(&line, "reads", file->calls[LL_READ]);
    ll_number(&line, "bytes_read", file->bytes[LL_READ]);
    ll_number(&line, "seeks", file->seeks);
    ll_number(&line, "syncs", file->syncs);
    ll_stripes stripes;
    if (ll_read_stripes(file->path, &stripes)) {
        ll_number(&line, "stripe_count", stripes.count);
        ll_number(&line, "stripe_size", stripes.size);
    }
    sizes(&line, "write_sizes", file, LL_WRITE);
    sizes(&line, "read_sizes", file, LL_READ);
    hash(&line, "sequence", file->sequence);
    hash(&line, "set", file->set);
    ll_end(&line);
}

static void tell_lost(const char* file, const char* why) {
    ll_line line;
    ll_begin(&line, "message");
    ll_text(&line, "text", why);
    ll_text(&line, "file", file);
    ll_end(&line);
}

// A descriptor that was closed where nobody looks may be another file's by now, whose calls were counted too.
static void release(ll_observed* file, int descriptor) {
    struct stat status;
    if (atomic_fetch_sub(&file->descriptors, 1) != 1) return;
    const bool same =
        fstat(descriptor, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode;
    if (same && !atomic_load(&file->escaped)) tell(file);
    else
        tell_lost(file->path,
                  "a descriptor was closed or duplicated where it is not seen: counts are not told");
}

void ll_note_close(int descriptor) {
    if (ll_observed_of(descriptor) == NULL || !ll_own_process()) return;
    const int error = errno;
    ll_observed* file = atomic_exchange(&ll_descriptor[descriptor], NULL);
    if (file != NULL) release(file, descriptor);
    errno = error;
}

void ll_note_close_range(unsigned first, unsigned last) {
    for (unsigned i = first; i < LL_DESCRIPTORS && i <= last; ++i) ll_note_close((int)i);
}

void ll_note_unshared(void) {
    for (int i = 0; i < LL_FILES && i < atomic_load(&opened); ++i) atomic_store(&files[i].escaped, true);
}

void ll_note_duplicate(int descriptor, int other) {
    if (other == descriptor) return;
    ll_note_close(other);
    ll_observed* file = ll_observed_of(descriptor);
    if (file == NULL || !ll_own_process()) return;
    if (other >= LL_DESCRIPTORS) {
        atomic_store(&file->escaped, true);
        return;
    }
    atomic_fetch_add(&file->descriptors, 1);
    atomic_store_explicit(&ll_descriptor[other], file, memory_order_release);
}

// The whole path, as the system has it for the descriptor; as it was given, where /proc is not there.
static void find_path(int descriptor, const char* given, char into[LL_OBSERVED_PATH]) {
    char link[sizeof "/proc/self/fd/" + LL_DIGITS] = "/proc/self/fd/";
    (void)ll_digits(link + strlen(link), (uint64_t)descriptor);
    const ssize_t size = readlink(link, into, LL_OBSERVED_PATH - 1);
    if (size > 0) into[size] = '\0';
    else (void)strncpy(into, given, LL_OBSERVED_PATH - 1);
}

static void observe(int descriptor, const char* path) {
    struct stat status;
    const int place = descriptor < LL_DESCRIPTORS && fstat(descriptor, &status) == 0
                          ? atomic_fetch_add(&opened, 1)
                          : LL_FILES;
    if (place >= LL_FILES) {
        atomic_fetch_add(&missed, 1);
        return;
    }
    ll_observed* file = &files[place];
    file->device = status.st_dev;
    file->inode = status.st_ino;
    find_path(descriptor, path, file->path);
    atomic_store(&file->descriptors, 1);
    atomic_store_explicit(&ll_descriptor[descriptor], file, memory_order_release);
}

void ll_note_open(int descriptor, const char* path) {
    if (descriptor < 0) return;
    const int error = errno;
    ll_note_close(descriptor);  // it was closed where we do not look
    if (ll_logs() && ll_opens(path) && ll_own_process()) observe(descriptor, path);
    errno = error;
}

// Its parent's counts are its parent's. Positions go on: both have the file open.
static void in_child(void) {
    for (int i = 0; i < LL_FILES && i < atomic_load(&opened); ++i) {
        ll_observed* file = &files[i];
        memset((void*)file->calls, 0, sizeof file->calls);
        memset((void*)file->bytes, 0, sizeof file->bytes);
        memset((void*)file->sizes, 0, sizeof file->sizes);
        file->seeks = file->syncs = file->sequence = file->set = 0;
    }
    atomic_store(&missed, 0);
}

__attribute__((constructor)) static void begin(void) {
    if (ll_logs()) (void)pthread_atfork(NULL, NULL, in_child);
}

// What a program leaves open is told when it ends.
__attribute__((destructor)) static void finish(void) {
    if (!ll_logs() || !ll_own_process()) return;
    ll_note_close_range(0, LL_DESCRIPTORS - 1);
    if (atomic_load(&missed) > 0)
        ll_say("%d files could not be observed: too many were opened, or at descriptors beyond %d", missed,
               LL_DESCRIPTORS);
}
