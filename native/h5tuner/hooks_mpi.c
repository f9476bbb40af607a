// MPI_File_open as the program, or its HDF5, finds it.
#include "inject_open.h"
#include "log.h"
#include "real.h"

enum { MPI_ERR_OTHER_OF_MOST = 15 };  // MPICH's and Open MPI's 15 and 16 both are errors of some kind

static int open_it(const ll_opening_mpi* o, const char* name, ll_handle info) {
    return ((int (*)(ll_handle, const char*, int, ll_handle, ll_handle*))o->real)(o->communicator, name,
                                                                                  o->mode, info, o->file);
}

LL_EXPORT int MPI_File_open(ll_handle communicator, const char* name, int mode, ll_handle info,
                            ll_handle* file) {
    void* real = ll_real("MPI_File_open", LL_CALLER);
    if (real == NULL) {
        ll_say("no library that is loaded has MPI_File_open");
        return MPI_ERR_OTHER_OF_MOST;
    }
    return ll_open_mpi(&(ll_opening_mpi){.communicator = communicator,
                                         .name = name,
                                         .mode = mode,
                                         .info = info,
                                         .file = file,
                                         .real = real,
                                         .invoke = open_it});
}
