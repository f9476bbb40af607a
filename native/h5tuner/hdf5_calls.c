// Binds the functions of a loaded HDF5.
#include "hdf5_calls.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "real.h"

enum { LIBRARIES = 8 };  // h5py's, netCDF4's, PyTables': a process has few
static _Atomic(ll_hdf5*) known[LIBRARIES];

// What only some HDF5s have is this one's or none's: another that is loaded beside it has identifiers and
// lists of its own. ISO C has no cast from void* to a function, POSIX has.
static bool bind(ll_hdf5* h, void** into, const char* name, bool optional) {
    *into = optional ? ll_within(h->address, name) : ll_beside(h->address, name);
    if (*into != NULL || optional) return true;
    (void)snprintf(h->problem, sizeof h->problem, "the loaded HDF5 has no %s", name);
    return false;
}

// A default list's identifier. Where the program's code copied it into itself (R_X86_64_COPY), the library's
// own stays unset for ever; that holds only of the HDF5 that all of the program sees.
static const ll_hid* bind_list(const ll_hdf5* h, const char* name) {
    const bool global = dlsym(RTLD_DEFAULT, "H5Eauto_is_v2") == (void*)h->H5Eauto_is_v2;
    const void* found = global ? dlsym(RTLD_DEFAULT, name) : NULL;
    return found != NULL ? found : ll_beside(h->address, name);
}

static void bind_all(ll_hdf5* h) {
#define BIND(optional, result, name, arguments) \
    if (!bind(h, (void**)&h->name, #name, optional)) return;
    LL_HDF5_FUNCTIONS(BIND)
#undef BIND
    (void)h->H5get_libversion(&h->version[0], &h->version[1], &h->version[2]);
    if (h->version[0] < 1 || (h->version[0] == 1 && h->version[1] < 10)) {
        (void)snprintf(h->problem, sizeof h->problem, "HDF5 %u.%u.%u; settings need 1.10 or newer",
                       h->version[0], h->version[1], h->version[2]);
        return;
    }
#define BIND(name)                                                           \
    if (!bind(h, (void**)&h->name, "H5P_LST_" #name "_ID_g", false)) return; \
    h->name = bind_list(h, "H5P_LST_" #name "_ID_g");
    LL_HDF5_LISTS(BIND)
#undef BIND
    if (h->H5open() < 0) (void)snprintf(h->problem, sizeof h->problem, "HDF5 cannot be opened");
}

// The one that is known already where it is the same; else this one, which is kept: another thread may be
// using what it replaces.
static const ll_hdf5* keep(ll_hdf5* made) {
    for (int i = 0; i < LIBRARIES; ++i) {
        ll_hdf5* there = NULL;
        if (atomic_compare_exchange_strong(&known[i], &there, made)) return made;
        if (memcmp(there, made, sizeof *made) != 0) continue;
        free(made);
        return there;
    }
    return made;
}

static const ll_hdf5* look_up(const void* function) {
    Dl_info info;
    if (dladdr(function, &info) == 0) return NULL;
    const ll_hdf5* found = ll_recall(info.dli_fbase, known);
    if (found != NULL) return found;
    ll_hdf5* made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    made->address = info.dli_fbase;
    bind_all(made);
    found = keep(made);
    ll_remember(info.dli_fbase, known, (void*)found);
    return found;
}

const ll_hdf5* ll_hdf5_of(const void* function) {
    const ll_hdf5* found = ll_recall(function, known);
    if (found != NULL) return found;
    sigset_t before;
    ll_hold_signals(&before);
    found = look_up(function);
    if (found != NULL) ll_remember(function, known, (void*)found);
    ll_let_signals(&before);
    return found;
}

ll_telling ll_silence(const ll_hdf5* h) {
    ll_telling was = {.second = true};
    unsigned second = 1;
    if (h->H5Eauto_is_v2(0, &second) < 0) second = 1;
    was.second = second != 0 || h->H5Eget_auto1 == NULL || h->H5Eset_auto1 == NULL;
    if (was.second) {
        (void)h->H5Eget_auto2(0, &was.tell, &was.data);
        (void)h->H5Eset_auto2(0, NULL, NULL);
    } else {
        (void)h->H5Eget_auto1(&was.tell, &was.data);
        (void)h->H5Eset_auto1(NULL, NULL);
    }
    return was;
}

void ll_tell_again(const ll_hdf5* h, ll_telling was) {
    if (was.second) (void)h->H5Eset_auto2(0, was.tell, was.data);
    else (void)h->H5Eset_auto1(was.tell, was.data);
}

ll_hid ll_copy(const ll_hdf5* h, ll_hid list, const ll_hid* standard) {
    return h->H5Pcopy(list == LL_H5_DEFAULT ? *standard : list);
}
