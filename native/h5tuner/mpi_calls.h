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
    X(int, Initialized, (int*))                                                   \
    X(int, Comm_size, (ll_handle, int*))                                          \
    X(int, Comm_dup, (ll_handle, ll_handle*))                                     \
    X(int, Comm_free, (ll_handle*))                                               \
    X(int, Comm_group, (ll_handle, ll_handle*))                                   \
    X(int, Comm_create_group, (ll_handle, ll_handle, int, ll_handle*))            \
    X(int, Comm_get_errhandler, (ll_handle, ll_handle*))                          \
    X(int, Comm_set_errhandler, (ll_handle, ll_handle))                           \
    X(int, Errhandler_free, (ll_handle*))                                         \
    X(int, Group_size, (ll_handle, int*))                                         \
    X(int, Group_intersection, (ll_handle, ll_handle, ll_handle*))                \
    X(int, Group_free, (ll_handle*))                                              \
    X(int, Allreduce, (const void*, void*, int, ll_handle, ll_handle, ll_handle)) \
    X(int, Info_create, (ll_handle*))                                             \
    X(int, Info_dup, (ll_handle, ll_handle*))                                     \
    X(int, Info_set, (ll_handle, const char*, const char*))                       \
    X(int, Info_get, (ll_handle, const char*, int, char*, int*))                  \
    X(int, Info_free, (ll_handle*))                                               \
    X(int, File_get_info, (ll_handle, ll_handle*))

typedef struct {
    const void* address;  // in the library
    bool usable, pointers;
    char version[LL_MPI_VERSION];
    ll_handle world, no_communicator, no_info, int_type, and_bits, errors_return;
#define LL_FIELD(result, name, arguments) result(*name) arguments;
    LL_MPI_FUNCTIONS(LL_FIELD)
#undef LL_FIELD
} ll_mpi;

// The MPI that holds `function`, or that the library which holds it uses; null where there is none, or where
// its family is unknown.
const ll_mpi* ll_mpi_of(const void* function);

bool ll_same_handle(const ll_mpi* m, ll_handle a, ll_handle b);

#endif
