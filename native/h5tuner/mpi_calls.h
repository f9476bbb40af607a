// The functions of a loaded MPI that are used, for the two families of binary interface: handles that are
// integers (MPICH, Intel MPI, Cray MPICH, MVAPICH) and handles that are pointers (Open MPI). Both are passed
// in a register of 64 bits, of which a callee reads as much as its own handles have.
#ifndef LEADLINE_H5TUNER_MPI_H
#define LEADLINE_H5TUNER_MPI_H

#include <stdbool.h>
#include <stdint.h>

typedef uintptr_t ll_handle;

enum { LL_MPI_MODE_CREATE = 1, LL_MPI_MODE_EXCL = 64, LL_MPI_VERSION = 160, LL_INFO_VALUE = 256 };

#define LL_MPI_FUNCTIONS(X)                                                       \
    X(int, Comm_size, (ll_handle, int*))                                          \
    X(int, Comm_free, (ll_handle*))                                               \
    X(int, Allreduce, (const void*, void*, int, ll_handle, ll_handle, ll_handle)) \
    X(int, Info_create, (ll_handle*))                                             \
    X(int, Info_dup, (ll_handle, ll_handle*))                                     \
    X(int, Info_set, (ll_handle, const char*, const char*))                       \
    X(int, Info_get, (ll_handle, const char*, int, char*, int*))                  \
    X(int, Info_free, (ll_handle*))                                               \
    X(int, File_get_info, (ll_handle, ll_handle*))

typedef struct {
    void* library;
    bool usable, pointers;
    char version[LL_MPI_VERSION];
    ll_handle no_communicator, no_info, int_type, and_bits;
#define LL_FIELD(result, name, arguments) result(*name) arguments;
    LL_MPI_FUNCTIONS(LL_FIELD)
#undef LL_FIELD
} ll_mpi;

// The MPI that `library` (null: the program) uses; null where there is none, or where its family is unknown.
const ll_mpi* ll_mpi_of(void* library);

bool ll_same_handle(const ll_mpi* m, ll_handle a, ll_handle b);

// Whether all ranks of `communicator` have the same `value`; collective over it.
bool ll_all_alike(const ll_mpi* m, ll_handle communicator, uint64_t value);

#endif
