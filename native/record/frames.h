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
void lr_started(const struct lr_call* call, int count, const int64_t* handles);
void lr_outside(const char* name);
