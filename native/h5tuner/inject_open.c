// MPI-IO: hints for MPI_File_open in the words of ROMIO and of OMPIO alike, and what the library took of
// them.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject_open.h"
#include "inject_stripes.h"
#include "log.h"
#include "process.h"
#include "ranks.h"
#include "real.h"

// Open MPI's MPI_MAX_INFO_KEY, the zero byte counted; its own handler of errors ends the program beyond.
enum { OUTCOMES = 64, HINTS = LL_MPI_IO | LL_FILE_SYSTEM, OPEN_MPI_KEY = 36 };

typedef struct {
    const ll_mpi* m;
    const char* file;
    ll_handle given, info;  // the program's, and ours
    bool romio;             // what opened the file, known afterwards
    int count;
    ll_outcome outcome[OUTCOMES];
} injection;

// OMPIO's own words for ROMIO's (Open MPI 4.1: fs_lustre_file_open.c, common_ompio_file_view.c); null: it has
// none. Those without another name are the ones that both read.
static const char* ompio_word(const char* hint) {
    static const char* const both[] = {"cb_buffer_size", "cb_nodes", "collective_buffering"};
    for (size_t i = 0; i < sizeof both / sizeof *both; ++i)
        if (strcmp(both[i], hint) == 0) return both[i];
    if (strcmp(hint, "striping_unit") == 0) return "stripe_size";
    if (strcmp(hint, "striping_factor") == 0) return "stripe_width";
    if (strcmp(hint, "romio_cb_write") == 0) return "collective_buffering";
    return NULL;
}

static const char* ompio_value(const ll_setting* setting) {
    if (strcmp(setting->name, "romio_cb_write") != 0) return setting->value;
    return strcmp(setting->value, "disable") == 0 ? "false" : "true";
}

static bool get(const injection* in, ll_handle info, const char* hint, char* value) {
    int there = 0;
    value[0] = '\0';
    return !ll_same_handle(in->m, info, in->m->no_info) &&
           in->m->Info_get(info, hint, LL_INFO_VALUE - 1, value, &there) == 0 && there != 0;
}

static void set(injection* in, const ll_setting* setting) {
    ll_outcome* outcome = &in->outcome[in->count++];
    *outcome = (ll_outcome){.setting = setting, .state = LL_ACCEPTED};
    if (in->m->pointers && strlen(setting->name) >= OPEN_MPI_KEY) {
        outcome->state = LL_REFUSED;
        outcome->why = "Open MPI takes no name of more than 35 characters";
        return;
    }
    if (!setting->override && get(in, in->given, setting->name, outcome->accepted)) {
        outcome->state = LL_KEPT;
        outcome->why = "the program sets it; say override to replace it";
        return;
    }
    if (in->m->Info_set(in->info, setting->name, setting->value) != 0) {
        outcome->state = LL_REFUSED;
        outcome->why = "MPI_Info_set does not take it";
    }
    const char* word = in->m->pointers ? ompio_word(setting->name) : NULL;
    if (word != NULL && strcmp(word, setting->name) != 0)
        (void)in->m->Info_set(in->info, word, ompio_value(setting));
}

// Each hint once: of several settings of it, the one that holds for this file.
static void set_all(injection* in, const ll_settings* settings) {
    for (int i = 0; i < settings->count && in->count < OUTCOMES; ++i) {
        const ll_setting* setting = &settings->item[i];
        if ((setting->layer & HINTS) == 0 || strcmp(setting->name, "IBM_lockless_io") == 0) continue;
        if (ll_wanted(settings, setting->name, in->file, NULL) == setting) set(in, setting);
    }
}

static void ignored(ll_outcome* outcome, const char* why) {
    outcome->state = LL_IGNORED;
    outcome->accepted[0] = '\0';
    outcome->why = why;
}

// Stripes are the file system's: an MPI hands back what it was given, whether there are any or not. False
// where the hint is not of stripes.
static bool judge_stripes(const injection* in, ll_outcome* outcome) {
    const char* name = outcome->setting->name;
    const bool factor = strcmp(name, "striping_factor") == 0, unit = strcmp(name, "striping_unit") == 0;
    ll_stripes found;
    if (!factor && !unit && strcmp(name, "start_iodevice") != 0) return false;
    if (ll_judge_stripes(outcome, in->file)) return true;
    if (!ll_read_stripes(in->file, &found)) {
        ignored(outcome, "the file system has no stripes that can be read (Lustre and CephFS have)");
    } else if (factor || unit) {
        const uint64_t has = factor ? found.count : found.size;
        (void)snprintf(outcome->accepted, sizeof outcome->accepted, "%" PRIu64, has);
        if (has != (uint64_t)outcome->setting->number[0]) outcome->state = LL_CHANGED;
    }
    return true;
}

// Open MPI hands back what it was given, whether its driver read it or not: what is known is which words they
// read.
static void judge_open_mpi(const injection* in, ll_outcome* outcome) {
    if (!in->romio && ompio_word(outcome->setting->name) == NULL)
        ignored(outcome, "OMPIO does not read it; ROMIO does (mpirun --mca io romio321)");
    else if (outcome->setting->word == NULL) ignored(outcome, "a hint of another vendor's MPI");
    else outcome->why = "Open MPI tells what it was given, not what it makes of it";
}

static void judge(injection* in, ll_outcome* outcome, ll_handle used) {
    const ll_setting* setting = outcome->setting;
    if (outcome->state != LL_ACCEPTED || judge_stripes(in, outcome)) return;
    const bool there = get(in, used, setting->name, outcome->accepted);
    if (in->m->pointers) judge_open_mpi(in, outcome);
    else if (!there)
        ignored(outcome, "MPI_File_get_info does not have it: this file's driver does not know it");
    else if (strcmp(outcome->accepted, setting->value) != 0) outcome->state = LL_CHANGED;
}

static void read_back(injection* in, ll_handle file) {
    ll_handle used = 0;
    if (in->m->File_get_info(file, &used) != 0) return;
    // Which of its two MPI-IOs Open MPI takes is chosen here, or by the file system, of which nothing is
    // told.
    const char* chosen = getenv("OMPI_MCA_io");
    in->romio = !in->m->pointers ||
                (chosen != NULL && (strncmp(chosen, "romio", 5) == 0 || strcmp(chosen, "^ompio") == 0));
    for (int i = 0; i < in->count; ++i) judge(in, &in->outcome[i], used);
    if (!ll_same_handle(in->m, used, in->m->no_info)) (void)in->m->Info_free(&used);
}

// The lockless driver of Blue Gene's ROMIO, chosen by a prefix of the name. Elsewhere the prefix would be
// part of it.
static const char* lockless(const ll_opening_mpi* o, const ll_settings* settings, ll_outcome* outcome,
                            char* room) {
    const ll_setting* setting = ll_wanted(settings, "IBM_lockless_io", o->name, NULL);
    if (setting == NULL || setting->number[0] == 0) return o->name;
    *outcome = (ll_outcome){.setting = setting, .state = LL_NOT_APPLICABLE};
    outcome->why = "this MPI has no lockless driver (ADIO_BGLOCKLESS_operations)";
    if (ll_beside(o->real, "ADIO_BGLOCKLESS_operations") == NULL) return o->name;
    if (strchr(o->name, ':') != NULL || snprintf(room, LL_H5_PATH, "bglockless:%s", o->name) >= LL_H5_PATH)
        return o->name;
    outcome->state = LL_ACCEPTED;
    outcome->why = NULL;
    return room;
}

// Settings of HDF5 that could not be made, since its own functions were never seen to be called.
static void not_reached(const ll_settings* settings, const char* file) {
    if (ll_now.hdf5 > 0) return;
    for (int i = 0; i < settings->count; ++i) {
        const ll_setting* setting = &settings->item[i];
        if (setting->layer != LL_HDF5 ||
            !ll_applies(setting, file, setting->dataset[0] != '\0' ? setting->dataset : NULL))
            continue;
        const ll_outcome outcome = {
            .setting = setting,
            .state = LL_NOT_REACHED,
            .why =
                "MPI_File_open came from no call of HDF5's that could be intercepted: HDF5 "
                "is linked statically, or this is no HDF5 file"};
        ll_log_outcome(&outcome, "MPI_File_open", file, NULL);
    }
}

// The real call, with errno as the program had it before, and what it left there kept.
static int call(const ll_opening_mpi* o, const char* name, ll_handle info) {
    errno = *o->error;
    const int result = o->invoke(o, name, info);
    *o->error = errno;
    return result;
}

static int plainly(const ll_opening_mpi* o) { return call(o, o->name, o->info); }

// For whatever file: ranks may name one differently, and must come to the same answer.
static bool has_hints(const ll_settings* settings) {
    for (int i = 0; i < settings->count; ++i)
        if ((settings->item[i].layer & HINTS) != 0) return true;
    return false;
}

// All ranks come here, or none: they have the same settings.
static int with_hints(const ll_opening_mpi* o, const ll_mpi* m, const ll_settings* settings) {
    injection in = {.m = m, .file = o->name, .given = o->info};
    ll_outcome prefix = {.setting = NULL};
    char room[LL_H5_PATH];
    const char* name = lockless(o, settings, &prefix, room);
    const bool none = ll_same_handle(m, o->info, m->no_info);
    const bool made = (none ? m->Info_create(&in.info) : m->Info_dup(o->info, &in.info)) == 0;
    if (made) set_all(&in, settings);
    for (int i = 0; i < in.count; ++i)
        if (in.outcome[i].state == LL_ACCEPTED) ll_want_stripes(&ll_now.wanted, in.outcome[i].setting);
    int result = made ? call(o, name, in.info) : plainly(o);
    ll_now.wanted = (ll_stripes){0, 0};
    if (made) (void)m->Info_free(&in.info);
    // Opening is collective: once more only where it failed on all ranks, or one would wait for the others.
    const bool again = ll_all_failed(m, o->communicator, o->name, result != 0);
    if (result == 0) {
        read_back(&in, *o->file);
    } else if (again) {
        // Without hints it fails as it would have, or it does not.
        for (int i = 0; i < in.count; ++i) in.outcome[i].state = LL_REFUSED;
        if (name != o->name) prefix.state = LL_REFUSED;
        result = plainly(o);
    }
    // A call that fails either way is the program's own affair.
    if (result != 0) return result;
    for (int i = 0; i < in.count; ++i) ll_log_outcome(&in.outcome[i], "MPI_File_open", o->name, NULL);
    if (prefix.setting != NULL) ll_log_outcome(&prefix, "MPI_File_open", o->name, NULL);
    return result;
}

static int open_it(const ll_opening_mpi* o) {
    const ll_settings* settings = ll_settings_here();
    const ll_mpi* m = ll_mpi_of(o->real);
    const bool wrong = m != NULL && ll_same_handle(m, o->communicator, m->no_communicator);
    if (m != NULL && !wrong) ll_meet_mpi(m, o->communicator);
    if (settings->count == 0 || wrong) return plainly(o);
    if (m == NULL) {
        ll_say("the MPI is of an unknown family; no hints are set");
        return plainly(o);
    }
    if (!ll_ranks_agree(m, o->communicator)) {
        ll_set_aside(o->name);
        return plainly(o);
    }
    const int result = has_hints(settings) ? with_hints(o, m, settings) : plainly(o);
    if (result == 0) not_reached(settings, o->name);
    return result;
}

int ll_open_mpi(const ll_opening_mpi* o) {
    if (o->name == NULL) return o->invoke(o, o->name, o->info);
    // What HDF5's call asked of the file's stripes is asked here again, beside the program's own hints.
    const ll_opening_now outer = ll_enter_mpi(o->name);
    const int result = open_it(o);
    ll_now = outer;
    errno = *o->error;
    return result;
}
