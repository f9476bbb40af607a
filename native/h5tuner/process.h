// What this process was told to do: read once, when HDF5 or MPI-IO is first used.
#ifndef LEADLINE_H5TUNER_PROCESS_H
#define LEADLINE_H5TUNER_PROCESS_H

#include <stdbool.h>

#include "hdf5_calls.h"
#include "mpi_calls.h"
#include "settings.h"

// The settings; never null, and without any where there are none or where their file is broken.
const ll_settings* ll_settings_here(void);

// Whether any of them is of these layers, and, for HDF5's, of this list of words (null-terminated).
bool ll_any(const ll_settings* settings, int layers);

// Says once in a process which libraries were met.
void ll_meet_hdf5(const ll_hdf5* h);
void ll_meet_mpi(const ll_mpi* m);

// Files whose ranks do not agree on the settings: nothing is set in them.
void ll_set_aside(const char* file);
bool ll_is_aside(const char* file);

// Depth of HDF5's and MPI-IO's opening calls in this thread: a file that is opened meanwhile is theirs.
extern _Thread_local int ll_opening_depth __attribute__((tls_model("initial-exec")));
// What MPI-IO opens, of which the other files that it opens on the way are told; null: it opens nothing.
extern _Thread_local const char* ll_opening_name __attribute__((tls_model("initial-exec")));
// Whether an opening call of HDF5 is among them.
extern _Thread_local int ll_hdf5_depth __attribute__((tls_model("initial-exec")));

#endif
