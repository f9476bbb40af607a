#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { ASIDE = 64 };

_Thread_local int ll_opening_depth __attribute__((tls_model("initial-exec")));
_Thread_local const char* ll_opening_name __attribute__((tls_model("initial-exec")));
_Thread_local int ll_hdf5_depth __attribute__((tls_model("initial-exec")));

static const ll_settings none;
static _Atomic(const ll_settings*) here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char* aside[ASIDE];
static int asides;

static const ll_settings* load(void) {
    const char* path = getenv("LEADLINE_H5_SETTINGS");
    if (path == NULL || path[0] == '\0') return &none;
    ll_settings* settings = malloc(sizeof *settings);
    if (settings == NULL) return &none;
    if (ll_load(path, settings)) return settings;
    ll_say("%.200s: %s; nothing is set", path, settings->problem);
    free(settings);
    return &none;
}

const ll_settings* ll_settings_here(void) {
    const ll_settings* known = atomic_load_explicit(&here, memory_order_acquire);
    if (known != NULL) return known;
    (void)pthread_mutex_lock(&lock);
    known = atomic_load(&here);
    if (known == NULL) {
        known = load();
        atomic_store(&here, known);
    }
    (void)pthread_mutex_unlock(&lock);
    return known;
}

bool ll_any(const ll_settings* settings, int layers) {
    for (int i = 0; i < settings->count; ++i)
        if ((settings->item[i].layer & layers) != 0) return true;
    return false;
}

static void program(ll_line* line) {
    extern char* program_invocation_name;
    ll_text(line, "program", program_invocation_name);
    const char* path = getenv("LEADLINE_H5_SETTINGS");
    if (path != NULL) ll_text(line, "settings", path);
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

void ll_meet_mpi(const ll_mpi* m) {
    static _Atomic(bool) met;
    if (atomic_exchange(&met, true) || !ll_logs()) return;
    ll_line line;
    ll_begin(&line, "library");
    program(&line);
    ll_text(&line, "mpi", m->version);
    ll_end(&line);
}

void ll_set_aside(const char* file) {
    if (ll_is_aside(file)) return;
    ll_say("%.200s: not all of its ranks read the same settings; nothing is set in it", file);
    (void)pthread_mutex_lock(&lock);
    if (asides < ASIDE && (aside[asides] = strdup(file)) != NULL) ++asides;
    // Without room nothing more is set at all, which is safe on every rank that comes here.
    if (asides == ASIDE) atomic_store(&here, &none);
    (void)pthread_mutex_unlock(&lock);
}

bool ll_is_aside(const char* file) {
    bool found = false;
    (void)pthread_mutex_lock(&lock);
    for (int i = 0; i < asides && !found; ++i) found = strcmp(aside[i], file) == 0;
    (void)pthread_mutex_unlock(&lock);
    return found;
}
