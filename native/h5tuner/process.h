// The settings of this process, and what each of its threads is opening.
#ifndef LEADLINE_H5TUNER_PROCESS_H
#define LEADLINE_H5TUNER_PROCESS_H

#include <stdbool.h>

#include "hdf5_calls.h"
#include "mpi_calls.h"
#include "settings.h"
#include "stripes.h"

// The settings; never null, and empty where there are none or where their file is broken.
const ll_settings* ll_settings_here(void);

// From now on there are none: the ranks do not agree on them.
void ll_set_nothing(void);

// Says once in a process which libraries were met; of MPI's, in a file of how many ranks.
void ll_meet_hdf5(const ll_hdf5* h);
void ll_meet_mpi(const ll_mpi* m, ll_handle communicator);

// Files in which nothing may be set, although there are settings: their ranks cannot know of each other.
void ll_set_aside(const char* file);
bool ll_is_aside(const char* file);

// What HDF5 or MPI-IO is opening in this thread. A file that the thread opens meanwhile is theirs only by its
// name: a signal handler opens files of its own. It holds no pointers, since a program may leave a call by
// longjmp.
typedef struct {
    int hdf5, depth;    // calls of HDF5 under way; those of both
    bool exact;         // the last part of the name is that of the file; else it begins the file's
    uint32_t length;    // of that part
    uint64_t hash;      // of that part
    ll_stripes wanted;  // stripes for new files; 0: as they come
    bool met;           // a new file was met
} ll_opening_now;
extern _Thread_local ll_opening_now ll_now __attribute__((tls_model("initial-exec")));

// Begins a call of HDF5's that opens `name` (whose drivers add to it, and write a number for '%'), or one of
// MPI-IO's (whose name may have a prefix, "ufs:"). What is returned is to be put back into `ll_now` after it.
ll_opening_now ll_enter_hdf5(const char* name);
ll_opening_now ll_enter_mpi(const char* name);

// Whether `path` is what this thread is opening. Safe in signal handlers.
bool ll_opens(const char* path);

#endif
