// Whether all ranks of a job have this library and the same settings: only then may any of them set something
// in a file that several open, since a chunk shape that differs between ranks destroys the file, and a call
// that only some repeat is waited for by them for ever.
//
// It is found out without the program's communicators. Each rank with settings leaves a mark in a file of the
// job before its MPI_Init, which no MPI leaves before all ranks have entered it; after it, they look whether
// all marks are there and alike, and the first verdict holds for all. See docs/decisions/0018.
#ifndef LEADLINE_H5TUNER_RANKS_H
#define LEADLINE_H5TUNER_RANKS_H

#include "mpi_calls.h"

// Round MPI_Init. Without settings neither does anything.
void ll_before_init(void);
void ll_after_init(const ll_mpi* m);

// Whether all ranks of `communicator` are known to agree; no communication.
bool ll_ranks_agree(const ll_mpi* m, ll_handle communicator);

// Whether MPI runs, but what its ranks have is unknown: its initialization was not seen.
bool ll_ranks_unknown(const ll_mpi* m);

// Whether `failed` holds on all ranks of a communicator that agree; collective over them, on a communicator
// that the program does not have. False where that cannot be found out.
bool ll_all_failed(const ll_mpi* m, ll_handle communicator, const char* file, bool failed);
// The same over a communicator of ours.
bool ll_all_failed_on(const ll_mpi* m, ll_handle own, bool failed);

#endif
