// MPI's functions as the program, its HDF5 or a binding of another language finds them.
#include <errno.h>
#include <stdatomic.h>

#include "inject_open.h"
#include "log.h"
#include "ranks.h"
#include "real.h"

enum { MPI_ERR_OTHER_OF_MOST = 15 };  // MPICH's and Open MPI's 15 and 16 both are errors of some kind

#define REAL(name)                                         \
    void* real = ll_real(#name, LL_CALLER);                \
    if (real == NULL) {                                    \
        ll_say("no library that is loaded has %s", #name); \
        return MPI_ERR_OTHER_OF_MOST;                      \
    }

// A tool's MPI_Init calls PMPI_Init: the outermost is the program's.
static _Atomic(int) depth;

static void before(void) {
    if (atomic_fetch_add(&depth, 1) == 0) ll_before_init();
}

static int after(const void* real, int result) {
    if (atomic_fetch_sub(&depth, 1) == 1 && result == 0) ll_after_init(ll_mpi_of(real));
    return result;
}

#define INIT(name)                                                        \
    LL_EXPORT int name(int* count, char*** words);                        \
    LL_EXPORT int name(int* count, char*** words) {                       \
        REAL(name)                                                        \
        before();                                                         \
        return after(real, ((int (*)(int*, char***))real)(count, words)); \
    }
INIT(MPI_Init)
INIT(PMPI_Init)

#define INIT_THREAD(name)                                                                           \
    LL_EXPORT int name(int* count, char*** words, int wanted, int* given);                          \
    LL_EXPORT int name(int* count, char*** words, int wanted, int* given) {                         \
        REAL(name)                                                                                  \
        before();                                                                                   \
        return after(real, ((int (*)(int*, char***, int, int*))real)(count, words, wanted, given)); \
    }
INIT_THREAD(MPI_Init_thread)
INIT_THREAD(PMPI_Init_thread)

static int open_it(const ll_opening_mpi* o, const char* name, ll_handle info) {
    return ((int (*)(ll_handle, const char*, int, ll_handle, ll_handle*))o->real)(o->communicator, name,
                                                                                  o->mode, info, o->file);
}

LL_EXPORT int MPI_File_open(ll_handle communicator, const char* name, int mode, ll_handle info,
                            ll_handle* file) {
    int error = errno;
    REAL(MPI_File_open)
    return ll_open_mpi(&(ll_opening_mpi){.communicator = communicator,
                                         .name = name,
                                         .mode = mode,
                                         .info = info,
                                         .file = file,
                                         .real = real,
                                         .error = &error,
                                         .invoke = open_it});
}
