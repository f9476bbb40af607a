// Files: settings of their access list and, for new ones, of their creation list.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject.h"
#include "inject_stripes.h"
#include "inject_subfiling.h"
#include "log.h"
#include "process.h"
#include "properties.h"

enum { OUTCOMES = 32 };

typedef struct {
    const ll_hdf5* h;
    const ll_settings* settings;
    const ll_opening* opening;
    bool parallel;
    bool applied;
    const ll_mpi* m;
    ll_handle communicator;  // of a file of several ranks, until its opening ends
    ll_hid create_list, access_list;
    int count;
    ll_outcome outcome[OUTCOMES];
    const ll_property* property[OUTCOMES];
    ll_subfiling subfiling;
} injection;

// Whether the file is opened by several ranks, and whether they all read the same settings. The communicator
// is that of the access list: creating and opening a file is collective over it, so this may be too.
static bool agreed(injection* in) {
    const ll_hdf5* h = in->h;
    ll_handle info = 0;
    if (h->H5Pget_fapl_mpio == NULL || in->opening->access_list == LL_H5_DEFAULT) return true;
    const ll_mpi* m = ll_mpi_of(h->library);
    if (h->H5Pget_fapl_mpio(in->opening->access_list, &in->communicator, &info) < 0) {
        // The subfiling driver is none of MPI-IO's, and has its communicator elsewhere.
        if (m == NULL || h->H5Pget_mpi_params == NULL ||
            h->H5Pget_mpi_params(in->opening->access_list, &in->communicator, &info) < 0 ||
            ll_same_handle(m, in->communicator, m->no_communicator))
            return true;
    }
    in->parallel = true;
    if (m == NULL) return false;
    in->m = m;
    const bool alike = ll_all_alike(m, in->communicator, in->settings->hash);
    if (!ll_same_handle(m, info, m->no_info)) (void)m->Info_free(&info);
    return alike;
}

// Whether a file's new pages make a page buffer possible.
static const char* no_page_buffer(const injection* in) {
    if (in->parallel) return "HDF5 has no page buffer for files of several ranks";
    if (!in->opening->creates) return NULL;
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
    else if (strcmp(property->word, "page_buffer_size") == 0) outcome->why = no_page_buffer(in);
    if (outcome->why != NULL) return;
    ll_apply(in->h, property, creating ? in->create_list : in->access_list,
             creating ? *in->h->FILE_CREATE : *in->h->FILE_ACCESS, outcome);
    in->applied = in->applied || outcome->state == LL_ACCEPTED || outcome->state == LL_CHANGED;
}

static bool has_settings(const ll_settings* settings, const char* name) {
    for (const ll_property* p = ll_properties; p->word != NULL; ++p)
        if (p->list <= LL_LIST_CREATE && ll_wanted(settings, p->word, name, NULL) != NULL) return true;
    return ll_wants_subfiling(settings, name);
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

static void refused(injection* in) {
    for (int i = 0; i < in->count; ++i) {
        if (in->outcome[i].state != LL_ACCEPTED && in->outcome[i].state != LL_CHANGED) continue;
        in->outcome[i].state = LL_REFUSED;
        in->outcome[i].why = "with all settings the call failed, so it was made with none";
        in->outcome[i].accepted[0] = '\0';
    }
}

// With the program's own lists, as if we were not here.
static ll_hid plainly(const ll_opening* opening, unsigned flags) {
    return opening->invoke(opening, flags, opening->create_list, opening->access_list);
}

// The first call, with settings where there are any, and whether it is to be made again without: of a file of
// several ranks only where it failed on all of them, or one would wait for the others.
static ll_hid first_call(injection* in, bool* again, bool* taken) {
    const ll_opening* opening = in->opening;
    errno = 0;
    const ll_hid file = in->applied
                            ? opening->invoke(opening, opening->flags, in->create_list, in->access_list)
                            : plainly(opening, opening->flags);
    *taken = file < 0 && errno == EEXIST;
    *again = file < 0 && (in->applied || in->subfiling.set);
    if (in->parallel) *again = ll_all_alike(in->m, in->communicator, file < 0) && file < 0;
    if (file < 0) refused(in);
    read_back(in, file);
    return file;
}

static ll_hid with_settings(injection* in) {
    const ll_opening* opening = in->opening;
    const bool was_there = access(opening->name, F_OK) == 0;
    const ll_telling telling = ll_silence(in->h);
    bool again = true, taken = false;
    ll_hid file = -1;
    if (!agreed(in)) {
        ll_set_aside(opening->name);
    } else if (has_settings(in->settings, opening->name)) {
        apply_all(in);
        ll_begin_subfiling(&in->subfiling, in->h, in->settings, opening);
        // Ranks on which nothing could be set take part: they do not know of each other.
        if (in->applied || in->parallel || in->subfiling.set) file = first_call(in, &again, &taken);
        ll_end_subfiling(&in->subfiling);
    }
    if (in->access_list > 0) (void)in->h->H5Pclose(in->access_list);
    if (in->create_list > 0) (void)in->h->H5Pclose(in->create_list);
    if (in->m != NULL) (void)in->m->Comm_free(&in->communicator);
    ll_tell_again(in->h, telling);
    if (file < 0 && again) {
        // A file that only may be new was made by the call that failed, unless that failed because somebody
        // else made it meanwhile. What made the file of several ranks cannot be told: it is left alone.
        const bool ours = in->applied && opening->creates && !was_there && !taken && !in->parallel &&
                          (opening->flags & LL_H5_EXCL) != 0;
        file =
            plainly(opening, ours ? (opening->flags & ~(unsigned)LL_H5_EXCL) | LL_H5_TRUNC : opening->flags);
    }
    const int error = errno;
    // A call that fails either way is the program's own affair.
    for (int i = 0; i < in->count && file >= 0; ++i)
        ll_log_outcome(&in->outcome[i], opening->call, opening->name, NULL);
    if (file >= 0) ll_tell_subfiling(&in->subfiling, opening);
    errno = error;
    return file;
}

ll_hid ll_open_file(const ll_opening* opening) {
    const ll_hdf5* h = ll_hdf5_of(opening->real);
    const ll_settings* settings = ll_settings_here();
    if (h != NULL) ll_meet_hdf5(h);
    ++ll_opening_depth;
    ++ll_hdf5_depth;
    ll_hid file = -1;
    // Ranks of a file must find out whether they agree even where some have no settings: those take part too.
    ll_striping striping = {.met = false};
    if (h != NULL && h->problem[0] == '\0' && opening->name != NULL && opening->creates)
        ll_want_all_stripes(&striping, settings, opening->name);
    const bool stripes = striping.wanted.count != 0 || striping.wanted.size != 0;
    ll_striping_now = stripes ? &striping : NULL;
    const bool ranks = h != NULL && h->H5Pget_fapl_mpio != NULL && opening->access_list != LL_H5_DEFAULT;
    if (h == NULL || h->problem[0] != '\0' || opening->name == NULL ||
        (!ranks && !has_settings(settings, opening->name))) {
        file = plainly(opening, opening->flags);
    } else {
        injection in = {.h = h, .settings = settings, .opening = opening};
        file = with_settings(&in);
    }
    ll_striping_now = NULL;
    if (file >= 0) ll_tell_stripes(&striping, settings, opening->call, opening->name);
    --ll_hdf5_depth;
    --ll_opening_depth;
    return file;
}
