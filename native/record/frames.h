/* For the generated wrappers alone. */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>

#include "record.h"

#ifdef MPI_H_ABI
typedef int MPI_Fint; /* the standard ABI is C's alone */
#endif

#define LR_SEEN __attribute__((visibility("default")))
#define LR_STATUS_WORDS (sizeof(MPI_Status) / sizeof(MPI_Fint))

/* Whether Fortran said that it wants no status. */
bool lr_ignored(const MPI_Fint* status);
bool lr_all_ignored(const MPI_Fint* statuses);
/* Whether a buffer is MPI_IN_PLACE, as C or Fortran says it. */
bool lr_in_place(const void* buffer);
/* Whether this rank is the root. */
bool lr_is(MPI_Comm comm, int root);
/* Whether a rank's own block is to be had from the blocks that vary: the root's, who may be in place, and of
 * two groups theirs that take no part. */
static inline bool lr_roots(MPI_Comm comm, int root) { return root == MPI_PROC_NULL || lr_is(comm, root); }
/* Of a gather the root says what comes, others what they send; of a scatter the other way round. What else
 * they pass means nothing, and may be no type at all. */
static inline int64_t lr_block(int kind, MPI_Comm comm, int root, int64_t given, MPI_Datatype gives,
                               int64_t taken, MPI_Datatype takes) {
    if (root == MPI_PROC_NULL) return 0;
    return lr_is(comm, root) == (kind == LR_SCATTER) ? lr_bytes(given, gives) : lr_bytes(taken, takes);
}
#ifndef MPI_H_ABI
/* From which number Fortran's indices count: 1, but 0 in the mpi_f08 of MPICH 4.0. Found by which requests
 * the call ended, and kept for calls that end persistent ones. */
int lr_base(int* kept, int count, const int64_t* before, const MPI_Fint* requests, int done,
            const MPI_Fint* indices);
/* Fortran's types of an array, of which there are as many as ranks, or neighbours that give or take; to be
 * freed. */
MPI_Datatype* lr_types(const MPI_Fint* types, MPI_Comm comm, bool neighbours, bool give);
#endif
void lr_started(const struct lr_call* call, int count, const int64_t* handles);
void lr_outside(const char* name);
