// Files: settings of their access list and, for new ones, of their creation list.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"
#include "inject_stripes.h"
#include "inject_subfiling.h"
#include "log.h"
#include "process.h"
#include "properties.h"
#include "ranks.h"

enum { OUTCOMES = 32 };

typedef struct {
    const ll_hdf5* h;
    const ll_settings* settings;
    const ll_opening* opening;
    bool parallel;
    bool applied;
    bool again;              // whether the call is to be made once more, without settings
    ll_hid errors;           // of the call that failed
    const ll_mpi* m;         // null: the file is opened by one process
    ll_handle communicator;  // a duplicate of that of the list, until the opening ends
    ll_hid create_list, access_list;
    int count;
    ll_outcome outcome[OUTCOMES];
    const ll_property* property[OUTCOMES];
    ll_subfiling subfiling;
} injection;

// Whether a list has the driver that a file has by default.
static bool has_default_driver(const ll_hdf5* h, ll_hid list) {
    const bool chosen = getenv("HDF5_DRIVER") != NULL;
    return !chosen && (list == LL_H5_DEFAULT || h->H5Pget_driver(list) == h->H5Pget_driver(*h->FILE_ACCESS));
}

// Whether a list has the connector that writes HDF5's own files, which is the default one.
static bool is_native(const ll_hdf5* h, ll_hid list) {
    ll_hid its = -1, usual = -1;
    if (h->H5Pget_vol_id == NULL || h->H5VLclose == NULL) return true;
    if (getenv("HDF5_VOL_CONNECTOR") != NULL) return false;
    if (list == LL_H5_DEFAULT) return true;
    (void)h->H5Pget_vol_id(list, &its);
    (void)h->H5Pget_vol_id(*h->FILE_ACCESS, &usual);
    const bool native = its >= 0 && its == usual;
    if (its >= 0) (void)h->H5VLclose(its);
    if (usual >= 0) (void)h->H5VLclose(usual);
    return native;
}

typedef enum { ONE, SEVERAL, NOBODY_KNOWS } who;

// Whether another process opens this file with us. Where that may be, and the ranks do not know of each
// other, the list must not even be copied: for MPI-IO's that is collective, as is asking for its
// communicator.
static who openers(injection* in) {
    const ll_hdf5* h = in->h;
    const ll_hid list = in->opening->access_list;
    ll_handle info = 0;
    if (h->H5Pget_fapl_mpio == NULL || list == LL_H5_DEFAULT || has_default_driver(h, list)) return ONE;
    const ll_mpi* m = ll_mpi_of(h->address);
    if (m == NULL || ll_ranks_unknown(m)) return NOBODY_KNOWS;
    if (h->H5Pget_fapl_mpio(list, &in->communicator, &info) < 0) {
        // The subfiling driver is none of MPI-IO's, and has its communicator elsewhere.
        if (h->H5Pget_mpi_params == NULL || h->H5Pget_mpi_params(list, &in->communicator, &info) < 0 ||
            ll_same_handle(m, in->communicator, m->no_communicator))
            return ONE;
    }
    in->m = m;
    (void)m->Comm_set_errhandler(in->communicator, m->errors_return);
    if (!ll_same_handle(m, info, m->no_info)) (void)m->Info_free(&info);
    return ll_ranks_agree(m, in->communicator) ? SEVERAL : NOBODY_KNOWS;
}

// Whether a file's new pages make a page buffer possible.
static const char* no_page_buffer(const injection* in, const ll_setting* setting) {
    if (in->parallel) return "HDF5 has no page buffer for files of several ranks";
    // A failed opening is seen: it takes one of the numbers that HDF5 gives to files.
    if (!in->opening->creates)
        return setting->override ? NULL : "whether the file has pages is not known; say override to try";
    int strategy = 0;
    ll_hbool persist = 0;
    ll_hsize threshold = 0;
    if (in->h->H5Pget_file_space_strategy == NULL ||
        in->h->H5Pget_file_space_strategy(in->create_list, &strategy, &persist, &threshold) < 0 ||
        strategy != 1)
        return "a page buffer needs file_space_strategy page";
    return NULL;
}

static void apply(injection* in, const ll_property* property) {
    const bool creating = property->list == LL_LIST_CREATE;
    const ll_setting* setting = ll_wanted(in->settings, property->word, in->opening->name, NULL);
    if (setting == NULL || in->count == OUTCOMES || (creating && !in->opening->creates)) return;
    ll_outcome* outcome = &in->outcome[in->count];
    in->property[in->count++] = property;
    *outcome = (ll_outcome){.setting = setting, .state = LL_NOT_APPLICABLE};
    if (property->parallel_only && !in->parallel) outcome->why = "the file is opened by one process";
    else if (strcmp(property->word, "page_buffer_size") == 0) outcome->why = no_page_buffer(in, setting);
    if (outcome->why != NULL) return;
    ll_apply(in->h, property, creating ? in->create_list : in->access_list,
             creating ? *in->h->FILE_CREATE : *in->h->FILE_ACCESS, outcome);
    in->applied = in->applied || outcome->state == LL_ACCEPTED || outcome->state == LL_CHANGED;
}

// For whatever file: ranks may name one differently, and must come to the same answer.
static bool has_settings(const ll_settings* settings) {
    for (int i = 0; i < settings->count; ++i)
        if (settings->item[i].layer == LL_HDF5) return true;
    return false;
}

// Creation list first: whether there can be a page buffer depends on it.
static void apply_all(injection* in) {
    in->access_list = ll_copy(in->h, in->opening->access_list, in->h->FILE_ACCESS);
    if (in->opening->creates) in->create_list = ll_copy(in->h, in->opening->create_list, in->h->FILE_CREATE);
    if (in->access_list < 0 || in->create_list < 0) return;
    for (const ll_property* p = ll_properties; p->word != NULL; ++p)
        if (p->list == LL_LIST_CREATE) apply(in, p);
    for (const ll_property* p = ll_properties; p->word != NULL; ++p)
        if (p->list == LL_LIST_ACCESS) apply(in, p);
}

// What the open file says of itself. Not of several ranks': asking copies its communicator, and not all may
// ask.
static void read_back(injection* in, ll_hid file) {
    if (in->parallel || file < 0 || !ll_logs()) return;
    const ll_hid access = in->h->H5Fget_access_plist(file);
    const ll_hid create = in->opening->creates ? in->h->H5Fget_create_plist(file) : -1;
    for (int i = 0; i < in->count; ++i) {
        if (in->property[i] == NULL) continue;
        const ll_hid list = in->property[i]->list == LL_LIST_CREATE ? create : access;
        if (list >= 0) ll_read_back(in->h, in->property[i], list, &in->outcome[i]);
    }
    if (access >= 0) (void)in->h->H5Pclose(access);
    if (create >= 0) (void)in->h->H5Pclose(create);
}

static void withdraw(injection* in, ll_state state, const char* why) {
    for (int i = 0; i < in->count; ++i) {
        if (in->outcome[i].state != LL_ACCEPTED && in->outcome[i].state != LL_CHANGED) continue;
        in->outcome[i].state = state;
        in->outcome[i].why = why;
        in->outcome[i].accepted[0] = '\0';
    }
    in->applied = false;
}

// The real call, with errno as the program had it before, and what it left there kept.
static ll_hid call(const ll_opening* opening, ll_hid create_list, ll_hid access_list) {
    errno = *opening->error;
    const ll_hid file = opening->invoke(opening, opening->flags, create_list, access_list);
    *opening->error = errno;
    return file;
}

// With the program's own lists, as if we were not here.
static ll_hid plainly(const ll_opening* opening) {
    return call(opening, opening->create_list, opening->access_list);
}

// A file that must not be there yet. A call that fails may have made it, so there can be no second one.
static bool only_new(const ll_opening* opening) {
    return opening->creates && (opening->flags & LL_H5_TRUNC) == 0;
}

// Whether a file that must be new can be created with the settings: it is tried in memory, under a name that
// no file can have. Alignment does not matter for that, but would fill the memory.
static bool can_be_created(const injection* in) {
    enum { GROWTH = 65536 };
    const ll_hdf5* h = in->h;
    const ll_hid access = h->H5Pcopy(in->access_list);
    bool good = false;
    if (access < 0) return false;
    if (h->H5Pset_fapl_core(access, GROWTH, 0) >= 0 && h->H5Pset_alignment(access, 1, 1) >= 0) {
        const ll_hid file = h->H5Fcreate("/dev/null/leadline", LL_H5_TRUNC, in->create_list, access);
        good = file >= 0;
        if (file >= 0) (void)h->H5Fclose(file);
    }
    (void)h->H5Pclose(access);
    return good;
}

static void look_ahead(injection* in) {
    if (!in->applied || !only_new(in->opening)) return;
    if (!has_default_driver(in->h, in->opening->access_list) || !is_native(in->h, in->opening->access_list))
        withdraw(in, LL_NOT_APPLICABLE,
                 "the file must be new, and its driver gives no way to try the settings beforehand");
    else if (!can_be_created(in))
        withdraw(in, LL_REFUSED, "no file could be created with the settings, so they are not made");
}

// With settings, where there are any. Made again without only where that changes nothing on disk that the
// program's own call would not; of a file of several ranks only where it failed on all of them, or one would
// wait for the others.
static ll_hid first_call(injection* in, const ll_telling* telling) {
    const ll_opening* opening = in->opening;
    const bool last = only_new(opening);
    if (last) ll_tell_again(in->h, *telling);  // its errors are the program's
    const ll_hid file = in->applied ? call(opening, in->create_list, in->access_list) : plainly(opening);
    // Whatever is asked of HDF5 now would clear them.
    if (file < 0) in->errors = in->h->H5Eget_current_stack();
    if (last) (void)ll_silence(in->h);
    in->again = file < 0 && !last && (in->applied || in->subfiling.set);
    if (in->m != NULL && !last) in->again = ll_all_failed_on(in->m, in->communicator, file < 0);
    if (file < 0) withdraw(in, LL_REFUSED, "with all settings the call failed, so it was made with none");
    read_back(in, file);
    return file;
}

static ll_hid set_and_call(injection* in, const ll_telling* telling) {
    const ll_opening* opening = in->opening;
    const who opens = openers(in);
    in->parallel = opens == SEVERAL;
    if (opens == NOBODY_KNOWS) ll_set_aside(opening->name);
    else apply_all(in);
    look_ahead(in);
    if (opens != NOBODY_KNOWS && !only_new(opening))
        ll_begin_subfiling(&in->subfiling, in->h, in->settings, opening);
    in->again = !in->applied && !in->parallel && !in->subfiling.set;
    // Ranks on which nothing could be set take part: they do not know of each other.
    const ll_hid file = in->again ? -1 : first_call(in, telling);
    ll_end_subfiling(&in->subfiling);
    return file;
}

static ll_hid with_settings(injection* in) {
    const ll_opening* opening = in->opening;
    const ll_telling telling = ll_silence(in->h);
    ll_hid file = set_and_call(in, &telling);
    if (in->access_list > 0) (void)in->h->H5Pclose(in->access_list);
    if (in->create_list > 0) (void)in->h->H5Pclose(in->create_list);
    if (in->m != NULL) (void)in->m->Comm_free(&in->communicator);
    ll_tell_again(in->h, telling);
    if (in->errors > 0) (void)in->h->H5Eset_current_stack(in->errors);
    if (in->again) file = plainly(opening);
    // A call that fails either way is the program's own affair.
    for (int i = 0; i < in->count && file >= 0; ++i)
        ll_log_outcome(&in->outcome[i], opening->call, opening->name, NULL);
    if (file >= 0) ll_tell_subfiling(&in->subfiling, opening);
    return file;
}

static ll_hid open_it(const ll_opening* opening, const ll_hdf5* h) {
    const ll_settings* settings = ll_settings_here();
    if (opening->creates) ll_want_all_stripes(&ll_now.wanted, settings, opening->name);
    injection in = {.h = h, .settings = settings, .opening = opening};
    const ll_hid file = has_settings(settings) ? with_settings(&in) : plainly(opening);
    if (file >= 0 && ll_now.met) ll_tell_stripes(settings, opening->call, opening->name);
    return file;
}

ll_hid ll_open_file(const ll_opening* opening) {
    const ll_hdf5* h = ll_hdf5_of(opening->real);
    if (h != NULL) ll_meet_hdf5(h);
    if (opening->name == NULL) return plainly(opening);
    const ll_opening_now outer = ll_enter_hdf5(opening->name);
    const ll_hid file = h != NULL && h->problem[0] == '\0' ? open_it(opening, h) : plainly(opening);
    ll_now = outer;
    errno = *opening->error;
    return file;
}
