#include "mpi_calls.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "real.h"

static ll_mpi known;
static bool looked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// By the profiling name where there is one: a tool that counts the program's calls must not count ours.
static bool bind(void** into, const char* name) {
    *into = ll_beside(known.library, name);
    if (*into == NULL) *into = ll_beside(known.library, name + 1);
    return *into != NULL;
}

static bool bind_all(void) {
#define BIND(result, name, arguments) \
    if (!bind((void**)&known.name, "PMPI_" #name)) return false;
    LL_MPI_FUNCTIONS(BIND)
#undef BIND
    int (*version)(char*, int*) = NULL;
    // The longest that any MPI returns is 8192 characters (MPICH's).
    static char text[8192 + 1];
    int size = 0;
    if (bind((void**)&version, "PMPI_Get_library_version")) (void)version(text, &size);
    (void)snprintf(known.version, sizeof known.version, "%.*s", (int)strcspn(text, "\n,"), text);
    for (char* c = known.version; *c != '\0'; ++c)
        if (*c == '\t') *c = ' ';
    return true;
}

// Data first as the program sees them: where its code copies one of the library's objects into itself
// (R_X86_64_COPY), that copy is the one that all use, and the library's own is dead.
static void* data(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    return found != NULL ? found : ll_beside(known.library, name);
}

static bool constants(void) {
    if (data("ompi_mpi_info_null") != NULL) {
        known.pointers = true;
        known.no_communicator = (ll_handle)data("ompi_mpi_comm_null");
        known.no_info = (ll_handle)data("ompi_mpi_info_null");
        known.int_type = (ll_handle)data("ompi_mpi_int");
        known.and_bits = (ll_handle)data("ompi_mpi_op_band");
        return known.int_type != 0 && known.and_bits != 0;
    }
    // MPICH's ABI, which its derivatives promise to keep: values of its mpi.h.
    static const char* const derived[] = {"MPICH", "Intel", "MVAPICH", "CRAY", "ParaStation"};
    known.no_communicator = 0x04000000;
    known.no_info = 0x1c000000;
    known.int_type = 0x4c000405;
    known.and_bits = 0x58000006;
    for (size_t i = 0; i < sizeof derived / sizeof *derived; ++i)
        if (strstr(known.version, derived[i]) != NULL) return true;
    return false;
}

const ll_mpi* ll_mpi_of(void* library) {
    (void)pthread_mutex_lock(&lock);
    if (!looked) {
        known.library = library;
        known.usable = bind_all() && constants();
        looked = true;
    }
    (void)pthread_mutex_unlock(&lock);
    return known.usable ? &known : NULL;
}

bool ll_same_handle(const ll_mpi* m, ll_handle a, ll_handle b) {
    return m->pointers ? a == b : (uint32_t)a == (uint32_t)b;
}

// The bits that all have set, and those that all have not: together all of them where all values are the
// same.
bool ll_all_alike(const ll_mpi* m, ll_handle communicator, uint64_t value) {
    int size = 0;
    if (m->Comm_size(communicator, &size) != 0 || size == 1) return size == 1;
    const uint32_t low = (uint32_t)value, high = (uint32_t)(value >> 32);
    const uint32_t own[4] = {low, high, ~low, ~high};
    uint32_t all[4] = {0};
    if (m->Allreduce(own, all, 4, m->int_type, m->and_bits, communicator) != 0) return false;
    return (all[0] | all[2]) == UINT32_MAX && (all[1] | all[3]) == UINT32_MAX;
}
