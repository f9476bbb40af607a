#include "mpi_calls.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"

static _Atomic(ll_mpi*) known;  // a process has one

// By the profiling name where there is one: a tool that counts the program's calls must not count ours.
static bool bind(const ll_mpi* m, void** into, const char* name) {
    *into = ll_beside(m->address, name);
    if (*into == NULL) *into = ll_beside(m->address, name + 1);
    return *into != NULL;
}

static void find_version(ll_mpi* m) {
    enum { LONGEST = 8192 };  // that any MPI returns: MPICH's
    int (*version)(char*, int*) = NULL;
    char* text = calloc(1, LONGEST + 1);
    int size = 0;
    if (text != NULL && bind(m, (void**)&version, "PMPI_Get_library_version")) (void)version(text, &size);
    if (text != NULL) (void)snprintf(m->version, sizeof m->version, "%.*s", (int)strcspn(text, "\n,"), text);
    free(text);
    for (char* c = m->version; *c != '\0'; ++c)
        if (*c == '\t') *c = ' ';
}

static bool bind_all(ll_mpi* m) {
#define BIND(result, name, arguments) \
    if (!bind(m, (void**)&m->name, "PMPI_" #name)) return false;
    LL_MPI_FUNCTIONS(BIND)
#undef BIND
    find_version(m);
    return true;
}

// Data first as the program sees them: where its code copies one of the library's objects into itself
// (R_X86_64_COPY), that copy is the one that all use, and the library's own is dead.
static ll_handle data(const ll_mpi* m, const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    return (ll_handle)(found != NULL ? found : ll_beside(m->address, name));
}

static bool constants(ll_mpi* m) {
    if (data(m, "ompi_mpi_info_null") != 0) {
        m->pointers = true;
        m->world = data(m, "ompi_mpi_comm_world");
        m->no_communicator = data(m, "ompi_mpi_comm_null");
        m->no_info = data(m, "ompi_mpi_info_null");
        m->int_type = data(m, "ompi_mpi_int");
        m->and_bits = data(m, "ompi_mpi_op_band");
        m->errors_return = data(m, "ompi_mpi_errors_return");
        return m->world != 0 && m->int_type != 0 && m->and_bits != 0 && m->errors_return != 0;
    }
    // MPICH's ABI, which its derivatives promise to keep: values of its mpi.h.
    static const char* const derived[] = {"MPICH", "Intel", "MVAPICH", "CRAY", "ParaStation"};
    m->world = 0x44000000;
    m->no_communicator = 0x04000000;
    m->no_info = 0x1c000000;
    m->int_type = 0x4c000405;
    m->and_bits = 0x58000006;
    m->errors_return = 0x54000001;
    for (size_t i = 0; i < sizeof derived / sizeof *derived; ++i)
        if (strstr(m->version, derived[i]) != NULL) return true;
    return false;
}

const ll_mpi* ll_mpi_of(const void* function) {
    ll_mpi* there = atomic_load_explicit(&known, memory_order_acquire);
    if (there == NULL) {
        ll_mpi* made = calloc(1, sizeof *made);
        if (made == NULL) return NULL;
        sigset_t before;
        ll_hold_signals(&before);
        made->address = function;
        made->usable = bind_all(made) && constants(made);
        ll_let_signals(&before);
        if (atomic_compare_exchange_strong(&known, &there, made)) there = made;
        else free(made);  // another thread was first
    }
    return there->usable ? there : NULL;
}

bool ll_same_handle(const ll_mpi* m, ll_handle a, ll_handle b) {
    return m->pointers ? a == b : (uint32_t)a == (uint32_t)b;
}
