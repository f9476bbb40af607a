#include "process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "start.h"

enum { ASIDE = 64 };

_Thread_local ll_opening_now ll_now __attribute__((tls_model("initial-exec")));

static const ll_settings none;
static _Atomic(const ll_settings*) here;

// No locks in this file: a child of fork() would find for ever locked what another thread held.
static struct {
    _Atomic(bool) ready;
    char name[LL_H5_PATH];
} aside[ASIDE];
static _Atomic(int) asides;

const ll_settings* ll_settings_here(void) {
    const ll_settings* known = atomic_load_explicit(&here, memory_order_acquire);
    if (known != NULL) return known;
    const char* path = ll_started->settings;
    ll_settings* settings = path[0] != '\0' ? malloc(sizeof *settings) : NULL;
    const bool good = settings != NULL && ll_load(path, settings);
    // Another thread may have read the same file meanwhile.
    if (!atomic_compare_exchange_strong(&here, &known, good ? settings : &none)) {
        free(settings);
        return known;
    }
    if (good) return settings;
    if (settings != NULL) ll_say("%.200s: %s; nothing is set", path, settings->problem);
    free(settings);
    return &none;
}

void ll_set_nothing(void) { atomic_store(&here, &none); }

static void program(ll_line* line) {
    extern char* program_invocation_name;
    ll_text(line, "program", program_invocation_name);
    if (ll_started->settings[0] != '\0') ll_text(line, "settings", ll_started->settings);
}

void ll_meet_hdf5(const ll_hdf5* h) {
    static _Atomic(const ll_hdf5*) met[8];
    for (size_t i = 0; i < sizeof met / sizeof *met; ++i) {
        const ll_hdf5* free_place = NULL;
        if (atomic_load_explicit(&met[i], memory_order_relaxed) == h) return;
        if (atomic_compare_exchange_strong(&met[i], &free_place, h)) break;
        if (free_place == h) return;
    }
    if (h->problem[0] != '\0') ll_say("%s; nothing is set in HDF5", h->problem);
    if (!ll_logs()) return;
    char version[48];
    (void)snprintf(version, sizeof version, "%u.%u.%u", h->version[0], h->version[1], h->version[2]);
    ll_line line;
    ll_begin(&line, "library");
    program(&line);
    ll_text(&line, "hdf5", version);
    ll_raw(&line, "parallel", h->H5Pget_fapl_mpio != NULL ? "true" : "false");
    ll_end(&line);
}

void ll_meet_mpi(const ll_mpi* m, ll_handle communicator) {
    static _Atomic(bool) met;
    int ranks = 0;
    if (atomic_exchange(&met, true) || !ll_logs()) return;
    ll_line line;
    ll_begin(&line, "library");
    program(&line);
    ll_text(&line, "mpi", m->version);
    if (m->Comm_size(communicator, &ranks) == 0) ll_number(&line, "ranks", (uint64_t)ranks);
    ll_end(&line);
}

void ll_set_aside(const char* file) {
    if (ll_is_aside(file)) return;
    ll_say("%.200s: its ranks cannot find out whether all of them have this library; nothing is set in it",
           file);
    const int place = atomic_fetch_add(&asides, 1);
    if (place >= ASIDE || strlen(file) >= sizeof aside[place].name) {
        ll_set_nothing();  // without room, which is safe on every rank that comes here
        return;
    }
    (void)strcpy(aside[place].name, file);
    atomic_store(&aside[place].ready, true);
}

bool ll_is_aside(const char* file) {
    const int count = atomic_load_explicit(&asides, memory_order_acquire);
    for (int i = 0; i < count && i < ASIDE; ++i)
        if (atomic_load(&aside[i].ready) && strcmp(aside[i].name, file) == 0) return true;
    return false;
}

static const char* last_part(const char* path) {
    const char* slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// FNV-1a, 64 bits.
static uint64_t hash(const char* text, size_t size) {
    uint64_t value = 14695981039346656037u;
    for (size_t i = 0; i < size; ++i) value = (value ^ (unsigned char)text[i]) * 1099511628211u;
    return value;
}

static ll_opening_now enter(const char* part, size_t size, bool exact) {
    const ll_opening_now outer = ll_now;
    ll_now.exact = exact;
    ll_now.length = (uint32_t)size;
    ll_now.hash = hash(part, size);
    ll_now.wanted = (ll_stripes){0, 0};
    ll_now.met = false;
    ++ll_now.depth;
    return outer;
}

ll_opening_now ll_enter_hdf5(const char* name) {
    const char* part = last_part(name);
    const ll_opening_now outer = enter(part, strcspn(part, "%"), false);
    ++ll_now.hdf5;
    return outer;
}

static const char* without_prefix(const char* part) {
    const char* colon = strchr(part, ':');
    return colon != NULL ? colon + 1 : part;
}

ll_opening_now ll_enter_mpi(const char* name) {
    const char* part = without_prefix(last_part(name));
    return enter(part, strlen(part), true);
}

bool ll_opens(const char* path) {
    if (ll_now.depth == 0 || ll_now.length == 0 || path == NULL) return false;
    const char* part = last_part(path);
    if (ll_now.exact) part = without_prefix(part);
    const size_t size = strlen(part);
    if (ll_now.exact ? size != ll_now.length : size < ll_now.length) return false;
    return hash(part, ll_now.length) == ll_now.hash;
}
