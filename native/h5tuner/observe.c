#include "observe.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "process.h"
#include "stripes.h"

_Atomic(ll_observed*) ll_descriptor[LL_DESCRIPTORS];
static _Atomic(int) opened;
static _Atomic(int) here;  // the process that counts; a child begins anew

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

void ll_note_transfer(ll_observed* file, ll_direction direction, uint64_t offset, uint64_t size) {
    const uint64_t call = mixed(offset * 2 + direction, size);
    atomic_fetch_add_explicit(&file->calls[direction], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->bytes[direction], size, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->sizes[direction][bucket(size)], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&file->set, call, memory_order_relaxed);
    const uint64_t before = atomic_load_explicit(&file->sequence, memory_order_relaxed);
    atomic_store_explicit(&file->sequence, mixed(before, call), memory_order_relaxed);
}

void ll_note_here(ll_observed* file, ll_direction direction, uint64_t size) {
    const uint64_t offset = atomic_fetch_add_explicit(&file->position, size, memory_order_relaxed);
    ll_note_transfer(file, direction, offset, size);
}

static void sizes(ll_line* line, const char* key, ll_observed* file, ll_direction direction) {
    char json[LL_BUCKETS * 34] = "{";
    size_t size = 1;
    for (int i = 0; i < LL_BUCKETS; ++i) {
        const uint32_t count = atomic_load(&file->sizes[direction][i]);
        if (count == 0) continue;
        size += (size_t)snprintf(json + size, sizeof json - size, "%s\"%llu\":%u", size > 1 ? "," : "",
                                 1ull << i, count);
    }
    (void)strcpy(json + size, "}");
    ll_raw(line, key, json);
}

static void hash(ll_line* line, const char* key, uint64_t value) {
    char text[20];
    (void)snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    ll_text(line, key, text);
}

static void tell(ll_observed* file) {
    // Opened to see whether it is there.
    if (file->calls[LL_READ] + file->calls[LL_WRITE] + file->seeks + file->syncs == 0) return;
    ll_line line;
    ll_begin(&line, "observed");
    ll_text(&line, "file", file->path != NULL ? file->path : "");
    ll_number(&line, "writes", file->calls[LL_WRITE]);
    ll_number(&line, "bytes_written", file->bytes[LL_WRITE]);
    ll_number(&line, "reads", file->calls[LL_READ]);
    ll_number(&line, "bytes_read", file->bytes[LL_READ]);
    ll_number(&line, "seeks", file->seeks);
    ll_number(&line, "syncs", file->syncs);
    ll_stripes stripes;
    if (file->path != NULL && ll_read_stripes(file->path, &stripes)) {
        ll_number(&line, "stripe_count", stripes.count);
        ll_number(&line, "stripe_size", stripes.size);
    }
    sizes(&line, "write_sizes", file, LL_WRITE);
    sizes(&line, "read_sizes", file, LL_READ);
    hash(&line, "sequence", file->sequence);
    hash(&line, "set", file->set);
    ll_end(&line);
}

// In a child of vfork this is its parent's memory, of which it must leave everything as it is.
static bool borrowed(void) { return atomic_load_explicit(&here, memory_order_relaxed) != getpid(); }

static void child(void) {
    atomic_store(&here, getpid());
    for (int i = 0; i < LL_DESCRIPTORS; ++i) {
        ll_observed* file = atomic_load(&ll_descriptor[i]);
        ll_observed* own = file != NULL ? calloc(1, sizeof *own) : NULL;
        if (own != NULL) {
            own->path = file->path;
            own->position = file->position;
        }
        atomic_store(&ll_descriptor[i], own);  // its parent's counts are its parent's
    }
}

static void begin(void) {
    int none = 0;
    if (atomic_compare_exchange_strong(&here, &none, getpid())) (void)pthread_atfork(NULL, NULL, child);
}

void ll_note_close(int descriptor) {
    if (descriptor < 0 || descriptor >= LL_DESCRIPTORS || borrowed()) return;
    // Not freed: another thread may be writing to it at this moment, if the program is wrong.
    ll_observed* file = atomic_exchange(&ll_descriptor[descriptor], NULL);
    if (file != NULL) tell(file);
}

// Not the locks and the shared memory that an MPI opens beside a file. Its name may have a driver's prefix,
// "ufs:".
static bool is_wanted(const char* path) {
    if (ll_opening_depth == 0 || path == NULL || !ll_logs()) return false;
    if (ll_opening_name == NULL) return true;
    const char* slash = strrchr(path, '/');
    const char* last = slash != NULL ? slash + 1 : path;
    const size_t size = strlen(ll_opening_name), tail = strlen(last);
    if (tail > size || strcmp(ll_opening_name + size - tail, last) != 0) return false;
    return size == tail || strchr("/:", ll_opening_name[size - tail - 1]) != NULL;
}

void ll_note_open(int descriptor, const char* path) {
    const int error = errno;
    const bool wanted = is_wanted(path);
    if (descriptor < 0 || descriptor >= LL_DESCRIPTORS) return;
    if (wanted) begin();
    if (ll_observed_of(descriptor) != NULL) ll_note_close(descriptor);  // it was closed where we do not look
    if (wanted && !borrowed() && atomic_fetch_add(&opened, 1) < LL_FILES) {
        ll_observed* file = calloc(1, sizeof *file);
        char* whole = file != NULL ? realpath(path, NULL) : NULL;
        if (file != NULL) {
            file->path = whole != NULL ? whole : strdup(path);
            atomic_store_explicit(&ll_descriptor[descriptor], file, memory_order_release);
        }
    }
    errno = error;
}

// What a program leaves open is told when it ends.
__attribute__((destructor)) static void finish(void) {
    if (atomic_load(&here) == 0 || borrowed()) return;
    for (int i = 0; i < LL_DESCRIPTORS; ++i)
        if (ll_observed_of(i) != NULL) ll_note_close(i);
}
