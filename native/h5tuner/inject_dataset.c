// Datasets: their chunk shape, fill and allocation time, and a chunk cache of their own.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inject.h"
#include "log.h"
#include "process.h"
#include "properties.h"

enum { OUTCOMES = 8, IS_FILE = 1 };

typedef struct {
    const ll_hdf5* h;
    const ll_settings* settings;
    const ll_dataset* dataset;
    char file[LL_H5_PATH], path[2 * LL_H5_PATH];
    bool applied;
    ll_hid create_list, access_list;
    int count;
    ll_outcome outcome[OUTCOMES];
    const ll_property* property[OUTCOMES];
} injection;

// The file's name and the dataset's path in it; false where they cannot be had.
static bool name_it(injection* in) {
    const ll_dataset* dataset = in->dataset;
    char group[LL_H5_PATH] = "";
    if (dataset->name == NULL || in->h->H5Fget_name(dataset->place, in->file, sizeof in->file) < 0)
        return false;
    if (dataset->name[0] == '\0') return true;  // anonymous
    const bool rooted = dataset->name[0] == '/';
    if (!rooted && in->h->H5Iget_type(dataset->place) != IS_FILE &&
        in->h->H5Iget_name(dataset->place, group, sizeof group) < 0)
        return false;
    if (strcmp(group, "/") == 0) group[0] = '\0';
    const int size = snprintf(in->path, sizeof in->path, "%s%s%s", group, rooted ? "" : "/", dataset->name);
    return size > 0 && (size_t)size < sizeof in->path;
}

// The chunk shape for this dataset: not longer than its extent, where that is fixed; null where it has none.
static const char* fit_chunk(const injection* in, const ll_setting* setting, ll_setting* fitted) {
    ll_hsize size[LL_NUMBERS], most[LL_NUMBERS];
    const int rank = in->h->H5Sget_simple_extent_ndims(in->dataset->space);
    if (rank != setting->numbers) return "the dataset has another number of dimensions";
    if (in->h->H5Sget_simple_extent_dims(in->dataset->space, size, most) != rank)
        return "the dataset has no extent";
    if (in->h->H5Pget_external_count(in->create_list) > 0) return "the dataset lies in files of its own";
    const int layout = in->h->H5Pget_layout(in->create_list);
    if (layout != LL_H5_LAYOUT_CONTIGUOUS && layout != LL_H5_LAYOUT_CHUNKED)
        return "the dataset is compact or virtual";
    *fitted = *setting;
    for (int i = 0; i < rank; ++i) {
        if (most[i] == 0) return "the dataset is empty for good";
        if (most[i] != (ll_hsize)-1 && (ll_hsize)setting->number[i] > most[i])
            fitted->number[i] = (int64_t)most[i];
    }
    return NULL;
}

static const char* no_fill_time(const injection* in, const ll_setting* setting) {
    int defined = 0;
    if (setting->override || setting->number[0] != LL_H5_FILL_NEVER) return NULL;
    if (in->h->H5Pfill_value_defined(in->create_list, &defined) < 0 || defined == LL_H5_FILL_USER_DEFINED)
        return "the program has a fill value of its own";
    return NULL;
}

static void apply(injection* in, const ll_property* property) {
    const ll_setting* setting = ll_wanted(in->settings, property->word, in->file, in->path);
    const bool of_access = property->list == LL_LIST_DATASET_ACCESS;
    if (setting == NULL || in->count == OUTCOMES) return;
    if (of_access && setting->dataset[0] == '\0') return;  // the file's list has it for all of them
    ll_outcome* outcome = &in->outcome[in->count];
    in->property[in->count++] = property;
    *outcome = (ll_outcome){.setting = setting, .state = LL_NOT_APPLICABLE};
    ll_setting fitted;
    if (strcmp(property->word, "chunk") == 0) {
        outcome->why = fit_chunk(in, setting, &fitted);
        outcome->setting = &fitted;
    } else if (strcmp(property->word, "fill_time") == 0) {
        outcome->why = no_fill_time(in, setting);
        outcome->state = LL_KEPT;
    }
    if (outcome->why == NULL)
        ll_apply(in->h, property, of_access ? in->access_list : in->create_list,
                 of_access ? *in->h->DATASET_ACCESS : *in->h->DATASET_CREATE, outcome);
    outcome->setting = setting;
    in->applied = in->applied || outcome->state == LL_ACCEPTED || outcome->state == LL_CHANGED;
}

static void apply_all(injection* in) {
    in->create_list = ll_copy(in->h, in->dataset->create_list, in->h->DATASET_CREATE);
    in->access_list = ll_copy(in->h, in->dataset->access_list, in->h->DATASET_ACCESS);
    if (in->create_list < 0 || in->access_list < 0) return;
    for (const ll_property* p = ll_properties; p->word != NULL; ++p)
        if (p->list == LL_LIST_DATASET || p->list == LL_LIST_DATASET_ACCESS) apply(in, p);
}

static void read_back(injection* in, ll_hid made) {
    if (made < 0 || !ll_logs()) return;
    const ll_hid create = in->h->H5Dget_create_plist(made);
    for (int i = 0; i < in->count; ++i)
        if (create >= 0 && in->property[i]->list == LL_LIST_DATASET)
            ll_read_back(in->h, in->property[i], create, &in->outcome[i]);
    if (create >= 0) (void)in->h->H5Pclose(create);
}

// The real call, with errno as the program had it before, and what it left there kept.
static ll_hid call(const ll_dataset* dataset, ll_hid create_list, ll_hid access_list) {
    errno = *dataset->error;
    const ll_hid made = dataset->invoke(dataset, create_list, access_list);
    *dataset->error = errno;
    return made;
}

static ll_hid plainly(const ll_dataset* dataset) {
    return call(dataset, dataset->create_list, dataset->access_list);
}

static void refused(injection* in) {
    for (int i = 0; i < in->count; ++i) {
        if (in->outcome[i].state != LL_ACCEPTED && in->outcome[i].state != LL_CHANGED) continue;
        in->outcome[i].state = LL_REFUSED;
        in->outcome[i].why = "with all settings the call failed, so it was made with none";
        in->outcome[i].accepted[0] = '\0';
    }
}

static bool of_datasets(const ll_settings* settings) {
    for (const ll_property* p = ll_properties; p->word != NULL; ++p)
        for (int i = 0; i < settings->count; ++i)
            if ((p->list == LL_LIST_DATASET ||
                 (p->list == LL_LIST_DATASET_ACCESS && settings->item[i].dataset[0] != '\0')) &&
                strcmp(settings->item[i].name, p->word) == 0)
                return true;
    return false;
}

static void tell_lengths(const injection* in) {
    ll_hsize size[LL_NUMBERS], most[LL_NUMBERS];
    const int rank = in->h->H5Sget_simple_extent_ndims(in->dataset->space);
    if (rank < 0 || rank > LL_NUMBERS || !ll_logs()) return;
    if (rank == in->h->H5Sget_simple_extent_dims(in->dataset->space, size, most))
        ll_log_dataset(in->file, in->path, rank, size);
}

static ll_hid create(const ll_dataset* dataset) {
    const ll_settings* settings = ll_settings_here();
    if (!of_datasets(settings) && !ll_logs()) return plainly(dataset);
    const ll_hdf5* h = ll_hdf5_of(dataset->real);
    if (h == NULL || h->problem[0] != '\0') return plainly(dataset);
    injection in = {.h = h, .settings = settings, .dataset = dataset};
    const ll_telling telling = ll_silence(h);
    const bool named = name_it(&in);
    if (named && of_datasets(settings) && !ll_is_aside(in.file)) apply_all(&in);
    if (named) tell_lengths(&in);
    ll_hid made = -1;
    if (in.applied) {
        made = call(dataset, in.create_list, in.access_list);
        if (made < 0) refused(&in);
        read_back(&in, made);
    }
    if (in.create_list > 0) (void)h->H5Pclose(in.create_list);
    if (in.access_list > 0) (void)h->H5Pclose(in.access_list);
    ll_tell_again(h, telling);
    if (made < 0) made = plainly(dataset);
    for (int i = 0; i < in.count && made >= 0; ++i)
        ll_log_outcome(&in.outcome[i], "H5Dcreate", in.file, in.path);
    return made;
}

ll_hid ll_create_dataset(const ll_dataset* dataset) {
    const ll_hid made = create(dataset);
    errno = *dataset->error;
    return made;
}
