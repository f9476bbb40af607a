// Finds what stands behind a function of ours, for the caller at hand.
//
// RTLD_NEXT alone sees what the program was linked with. A Python wheel's HDF5 is loaded later, under a name
// of its own and visible only to its own modules, and one process may hold two of them (h5py's and
// netCDF4's): then the library is the one that the caller's own dependencies name. Last, any loaded library
// that has the symbol.
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Of an exact call (name and caller), what was found. Filled once, never emptied: what is found stays loaded,
// since the handles by which it was found are never closed.
enum { SLOTS = 1024 };
typedef struct {
    _Atomic(uint64_t) key;
    _Atomic(void*) found;
} slot;
static slot cache[SLOTS];

static const void* own_base(void) {
    static _Atomic(const void*) base;
    const void* known = atomic_load_explicit(&base, memory_order_relaxed);
    Dl_info info;
    if (known == NULL && dladdr((const void*)&own_base, &info) != 0) {
        known = info.dli_fbase;
        atomic_store_explicit(&base, known, memory_order_relaxed);
    }
    return known;
}

static bool ours(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0 && info.dli_fbase == own_base();
}

void* ll_library_of(const void* address) {
    Dl_info info;
    struct link_map* map = NULL;
    if (dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL || map->l_name[0] == '\0')
        return NULL;
    return dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

enum { LOADED = 1024 };
typedef struct {
    int count;
    char* name[LOADED];
} names;

// Names only: the loader's lock is held here, and opening takes another before it.
static int collect(struct dl_phdr_info* info, size_t size, void* data) {
    names* into = data;
    (void)size;
    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0') return 0;
    if (into->count == LOADED) return 1;
    char* name = strdup(info->dlpi_name);
    if (name != NULL) into->name[into->count++] = name;
    return 0;
}

static void* look_in(const char* file, const char* name) {
    void* library = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) return NULL;
    void* found = dlsym(library, name);
    if (found != NULL && !ours(found)) return found;
    (void)dlclose(library);
    return NULL;
}

static void* look_in_all(const char* name) {
    names loaded = {.count = 0};
    void* found = NULL;
    (void)dl_iterate_phdr(collect, &loaded);
    for (int i = 0; i < loaded.count; ++i) {
        if (found == NULL) found = look_in(loaded.name[i], name);
        free(loaded.name[i]);
    }
    return found;
}

void* ll_beside(void* library, const char* name) {
    void* found = library != NULL ? dlsym(library, name) : NULL;
    if (found != NULL && !ours(found)) return found;
    found = dlsym(RTLD_NEXT, name);
    if (found != NULL) return found;
    return look_in_all(name);
}

static void* find(const char* name, const void* caller) {
    // First as the program itself would: this is what it gets from the libraries that it was linked with.
    void* found = dlsym(RTLD_NEXT, name);
    if (found != NULL) return found;
    return ll_beside(ll_library_of(caller), name);
}

void* ll_real(const char* name, const void* caller) {
    // A literal's address is the name's identity. Odd multipliers spread both over 64 bits, so that no two
    // calls of one process share a key.
    const uint64_t key = (((uint64_t)(uintptr_t)caller * 0x9e3779b97f4a7c15u) ^
                          ((uint64_t)(uintptr_t)name * 0xc2b2ae3d27d4eb4fu)) |
                         1;
    const size_t first = (size_t)(key >> 32) % SLOTS;
    for (size_t i = 0; i < 8; ++i) {
        slot* at = &cache[(first + i) % SLOTS];
        uint64_t held = atomic_load_explicit(&at->key, memory_order_acquire);
        if (held == key) {
            void* found = atomic_load_explicit(&at->found, memory_order_acquire);
            return found != NULL ? found : find(name, caller);
        }
        if (held != 0) continue;
        void* found = find(name, caller);
        if (found == NULL) return NULL;
        if (atomic_compare_exchange_strong(&at->key, &held, key)) atomic_store(&at->found, found);
        return found;
    }
    return find(name, caller);
}
