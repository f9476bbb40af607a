// Finds what stands behind a function of ours, for the caller at hand.
//
// RTLD_NEXT alone sees what the program was linked with. A Python wheel's HDF5 is loaded later, under a name
// of its own and visible only to its own modules, and one process may hold two of them (h5py's and
// netCDF4's): then the library is the one that the caller's own dependencies name. Last, any loaded library
// that has the symbol. No library is kept loaded that the program unloads.
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static _Atomic(uint64_t) unloads = 1;
static int (*close_library)(void*);

__attribute__((constructor(102))) static void begin(void) {
    *(void**)&close_library = dlsym(RTLD_NEXT, "dlclose");
}

static int unload(void* library) {
    if (close_library == NULL) begin();
    return close_library != NULL ? close_library(library) : -1;
}

// After this another library may lie where one lay: nothing that was remembered holds any more.
LL_EXPORT int dlclose(void* library) {
    const int result = unload(library);
    atomic_fetch_add(&unloads, 1);
    return result;
}

// A slot's key is written last and looked at twice, so that what is read between belongs to it.
enum { SLOTS = 1024, TRIES = 8, BUSY = 2 };
typedef struct {
    _Atomic(uint64_t) key;
    _Atomic(void*) what;
} slot;
static slot cache[SLOTS];

// Odd multipliers spread the addresses over 64 bits, so that no two pairs of one process share a key.
static uint64_t key_of(const void* one, const void* other) {
    uint64_t key = (uint64_t)(uintptr_t)one * 0x9e3779b97f4a7c15u;
    key ^= (uint64_t)(uintptr_t)other * 0xc2b2ae3d27d4eb4fu;
    key ^= atomic_load_explicit(&unloads, memory_order_acquire) * 0xd6e8feb86659fd93u;
    return key | 1;
}

void* ll_recall(const void* one, const void* other) {
    const uint64_t key = key_of(one, other);
    for (size_t i = 0; i < TRIES; ++i) {
        slot* at = &cache[((size_t)(key >> 32) + i) % SLOTS];
        if (atomic_load_explicit(&at->key, memory_order_acquire) != key) continue;
        void* what = atomic_load_explicit(&at->what, memory_order_acquire);
        if (atomic_load_explicit(&at->key, memory_order_acquire) == key) return what;
    }
    return NULL;
}

void ll_remember(const void* one, const void* other, void* what) {
    const uint64_t key = key_of(one, other);
    slot* at = &cache[(size_t)(key >> 32) % SLOTS];
    for (size_t i = 0; i < TRIES; ++i) {
        slot* other_slot = &cache[((size_t)(key >> 32) + i) % SLOTS];
        if (atomic_load(&other_slot->key) != 0) continue;
        at = other_slot;
        break;
    }
    uint64_t before = atomic_load(&at->key);
    if (before == BUSY || !atomic_compare_exchange_strong(&at->key, &before, BUSY)) return;
    atomic_store(&at->what, what);
    atomic_store(&at->key, key);
}

static const void* base_of(const void* address) {
    Dl_info info;
    return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

static bool ours(const void* address) { return base_of(address) == base_of((const void*)&ours); }

// A handle of the library that holds `address`, to be closed by `unload`; null for the program itself.
static void* library_of(const void* address) {
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

static void* look_in(void* library, const char* name) {
    void* found = library != NULL ? dlsym(library, name) : NULL;
    if (library != NULL) (void)unload(library);
    return found != NULL && !ours(found) ? found : NULL;
}

static void* look_in_all(const char* name) {
    names loaded = {.count = 0};
    void* found = NULL;
    (void)dl_iterate_phdr(collect, &loaded);
    for (int i = 0; i < loaded.count; ++i) {
        if (found == NULL) found = look_in(dlopen(loaded.name[i], RTLD_LAZY | RTLD_NOLOAD), name);
        free(loaded.name[i]);
    }
    return found;
}

void* ll_beside(const void* address, const char* name) {
    void* found = look_in(library_of(address), name);
    if (found == NULL) found = dlsym(RTLD_NEXT, name);
    return found != NULL ? found : look_in_all(name);
}

void* ll_within(const void* address, const char* name) {
    void* library = library_of(address);
    void* found = library != NULL ? look_in(library, name) : dlsym(RTLD_NEXT, name);
    return found != NULL && base_of(found) == base_of(address) ? found : NULL;
}

void ll_hold_signals(sigset_t* before) {
    sigset_t all;
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_BLOCK, &all, before);
}

void ll_let_signals(const sigset_t* before) { (void)sigprocmask(SIG_SETMASK, before, NULL); }

void* ll_real(const char* name, const void* caller) {
    void* found = ll_recall(name, caller);
    if (found != NULL) return found;
    const int error = errno;
    sigset_t before;
    ll_hold_signals(&before);
    // First as the program itself would: this is what it gets from the libraries that it was linked with.
    found = dlsym(RTLD_NEXT, name);
    if (found == NULL) found = ll_beside(caller, name);
    if (found != NULL) ll_remember(name, caller, found);
    ll_let_signals(&before);
    errno = error;
    return found;
}
