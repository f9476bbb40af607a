// Transfers: whether the ranks of a file read and write a dataset together.
//
// A transfer that the program makes collective may be made independent of any rank's doing; one that it makes
// independent must not be made collective, unless it is told: a rank that writes nothing would be waited for.
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "inject.h"
#include "log.h"
#include "process.h"
#include "properties.h"

enum { COLLECTIVE = 1, INDEPENDENT = 0 };

static bool of_transfers(const ll_settings* settings) {
    for (int i = 0; i < settings->count; ++i)
        if (strcmp(settings->item[i].name, "transfer") == 0 ||
            strcmp(settings->item[i].name, "collective_opt") == 0)
            return true;
    return false;
}

typedef struct {
    const ll_hdf5* h;
    const ll_setting *mode, *opt;
    ll_outcome mode_outcome, opt_outcome;
    ll_hid dataset, list;
} injection;

typedef struct {
    char file[LL_H5_PATH], path[LL_H5_PATH];
    const ll_setting *mode, *opt;
} named;

// Whether the dataset's file is opened through MPI-IO. Asking its access list would be collective; asking for
// what only such a file has is not.
static bool through_mpi(const ll_hdf5* h, ll_hid dataset) {
    ll_hbool atomic = 0;
    const ll_hid file = h->H5Fget_mpi_atomicity != NULL ? h->H5Iget_file_id(dataset) : -1;
    const bool has = file >= 0 && h->H5Fget_mpi_atomicity(file, &atomic) >= 0;
    if (file >= 0) (void)h->H5Fclose(file);
    return has;
}

// Collective is what a rank may only be made to do on purpose.
static void set_mode(injection* in) {
    int now = INDEPENDENT;
    if (in->mode == NULL || in->h->H5Pget_dxpl_mpio == NULL || in->h->H5Pget_dxpl_mpio(in->list, &now) < 0)
        return;
    const int wanted = (int)in->mode->number[0];
    in->mode_outcome = (ll_outcome){.setting = in->mode, .state = LL_ACCEPTED};
    (void)strcpy(in->mode_outcome.accepted, wanted == COLLECTIVE ? "collective" : "independent");
    if (wanted == now) return;
    if (wanted == COLLECTIVE && !in->mode->override) {
        in->mode_outcome.state = LL_KEPT;
        in->mode_outcome.why =
            "the program transfers independently; say override if all ranks make each call";
        (void)strcpy(in->mode_outcome.accepted, "independent");
    } else if (wanted == COLLECTIVE && !through_mpi(in->h, in->dataset)) {
        in->mode_outcome.state = LL_NOT_APPLICABLE;
        in->mode_outcome.why = "the file is not opened through MPI-IO";
        in->mode_outcome.accepted[0] = '\0';
    } else if (in->h->H5Pset_dxpl_mpio(in->list, wanted) < 0) {
        in->mode_outcome.state = LL_REFUSED;
    }
}

static void set_opt(injection* in) {
    if (in->opt == NULL || in->h->H5Pset_dxpl_mpio_collective_opt == NULL) return;
    const bool set = in->h->H5Pset_dxpl_mpio_collective_opt(in->list, (int)in->opt->number[0]) >= 0;
    in->opt_outcome = (ll_outcome){.setting = in->opt, .state = set ? LL_ACCEPTED : LL_REFUSED};
}

// Each word once for a process: a program writes a dataset many times.
static void log_once(injection* in, const char* file, const char* path) {
    static _Atomic(const ll_setting*) told[2];
    if (in->mode_outcome.setting != NULL && atomic_exchange(&told[0], in->mode) != in->mode)
        ll_log_outcome(&in->mode_outcome, "H5Dwrite", file, path);
    if (in->opt_outcome.setting != NULL && atomic_exchange(&told[1], in->opt) != in->opt)
        ll_log_outcome(&in->opt_outcome, "H5Dwrite", file, path);
}

// Filtered chunks are shared by ranks: HDF5 writes them collectively or not at all.
static bool has_filters(const ll_hdf5* h, ll_hid dataset) {
    const ll_hid list = h->H5Dget_create_plist(dataset);
    const int filters = list >= 0 ? h->H5Pget_nfilters(list) : -1;
    if (list >= 0) (void)h->H5Pclose(list);
    return filters != 0;
}

// Settings of one dataset; false where nothing may be set for it, or nothing is wanted.
static bool look_at(const ll_hdf5* h, const ll_settings* settings, ll_hid dataset, named* found) {
    if (h->H5Fget_name(dataset, found->file, sizeof found->file) < 0 ||
        h->H5Iget_name(dataset, found->path, sizeof found->path) < 0 || ll_is_aside(found->file))
        return false;
    found->mode = ll_wanted(settings, "transfer", found->file, found->path);
    found->opt = ll_wanted(settings, "collective_opt", found->file, found->path);
    return (found->mode != NULL || found->opt != NULL) && !has_filters(h, dataset);
}

// One list is for all datasets of a call: what holds only for some of them is not set.
static ll_hid transfer(const ll_hdf5* h, const ll_settings* settings, size_t count, const ll_hid* datasets,
                       ll_hid list) {
    named first, other;
    if (h->H5Pset_dxpl_mpio == NULL || count == 0 || !look_at(h, settings, datasets[0], &first)) return list;
    for (size_t i = 1; i < count; ++i)
        if (!look_at(h, settings, datasets[i], &other) || other.mode != first.mode || other.opt != first.opt)
            return list;
    injection in = {.h = h, .dataset = datasets[0], .mode = first.mode, .opt = first.opt};
    in.list = ll_copy(h, list, h->DATASET_XFER);
    if (in.list < 0) return list;
    set_mode(&in);
    set_opt(&in);
    log_once(&in, first.file, first.path);
    return in.list;
}

ll_hid ll_begin_transfer(void* real, size_t count, const ll_hid* datasets, ll_hid list) {
    const ll_settings* settings = ll_settings_here();
    if (settings->count == 0 || !of_transfers(settings)) return list;
    const ll_hdf5* h = ll_hdf5_of(real);
    if (h == NULL || h->problem[0] != '\0') return list;
    const ll_telling telling = ll_silence(h);
    const ll_hid used = transfer(h, settings, count, datasets, list);
    ll_tell_again(h, telling);
    return used;
}

// The program may look at the errors of its call: closing our list must not clear them.
void ll_end_transfer(void* real, ll_hid list, ll_hid used) {
    if (used == list) return;
    const int error = errno;
    const ll_hdf5* h = ll_hdf5_of(real);
    const ll_hid errors = h->H5Eget_current_stack();
    (void)h->H5Pclose(used);
    if (errors >= 0) (void)h->H5Eset_current_stack(errors);
    errno = error;
}
