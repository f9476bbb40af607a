// Counts what a file's reads and writes were at the system's own interface, for files that HDF5 or MPI-IO
// opened. All of it may be called in signal handlers: files have places in a fixed table, which are taken by
// atomic operations and never given back.
#ifndef LEADLINE_H5TUNER_OBSERVE_H
#define LEADLINE_H5TUNER_OBSERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { LL_FILES = 4096, LL_BUCKETS = 48, LL_DESCRIPTORS = 4096, LL_OBSERVED_PATH = 1024 };

typedef enum { LL_READ, LL_WRITE, LL_TRANSFERS } ll_direction;

// One opened file. `sequence` hashes each call's kind, offset and size in their order; `set` in no order, so
// that those of several ranks or openings can be added (modulo 2^64).
typedef struct {
    _Atomic(int) descriptors;  // that mean it: dup() makes more
    _Atomic(bool) escaped;     // one of them lies beyond the table
    dev_t device;
    ino_t inode;
    _Atomic(uint64_t) calls[LL_TRANSFERS], bytes[LL_TRANSFERS], seeks, syncs;
    _Atomic(uint64_t) sequence, set;
    _Atomic(uint64_t) position;
    _Atomic(uint32_t) sizes[LL_TRANSFERS][LL_BUCKETS];  // by the power of two that a size has at least
    char path[LL_OBSERVED_PATH];
} ll_observed;

extern _Atomic(ll_observed*) ll_descriptor[LL_DESCRIPTORS];

// The file of a descriptor, or null: nearly always null, and then that is all it costs.
static inline ll_observed* ll_observed_of(int descriptor) {
    if (descriptor < 0 || descriptor >= LL_DESCRIPTORS) return NULL;
    return atomic_load_explicit(&ll_descriptor[descriptor], memory_order_acquire);
}

void ll_note_open(int descriptor, const char* path);  // forgets what had the number before
void ll_note_close(int descriptor);                   // writes what was observed, if it was the last one
void ll_note_close_range(unsigned first, unsigned last);
void ll_note_unshared(void);  // numbers mean other files in one thread than in another: no counts are told
void ll_note_duplicate(int descriptor, int other);  // `other` now means the same file
void ll_note_transfer(ll_observed* file, ll_direction direction, uint64_t offset, uint64_t size);
void ll_note_here(ll_observed* file, ll_direction direction,
                  uint64_t size);  // at its position, which moves on
void ll_note_seek(ll_observed* file, uint64_t position);
void ll_note_sync(ll_observed* file);

#endif
