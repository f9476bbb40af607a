#include "properties.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// A property that is one number of the library's type.
#define ONE(word, type)                                                                         \
    static bool get_##word(const ll_hdf5* h, ll_hid list, ll_value* value) {                    \
        type got = 0;                                                                           \
        if (h->H5Pget_##word == NULL || h->H5Pget_##word(list, &got) < 0) return false;         \
        *value = (ll_value){.count = 1, .number = {(int64_t)got}};                              \
        return true;                                                                            \
    }                                                                                           \
    static bool set_##word(const ll_hdf5* h, ll_hid list, const ll_value* value) {              \
        return h->H5Pset_##word != NULL && h->H5Pset_##word(list, (type)value->number[0]) >= 0; \
    }

ONE(meta_block_size, ll_hsize)
ONE(small_data_block_size, ll_hsize)
ONE(sieve_buf_size, size_t)
ONE(file_space_page_size, ll_hsize)
ONE(fill_time, int)
ONE(alloc_time, int)

// hbool_t: whatever its width, its first byte decides.
#define SWITCH(word)                                                                           \
    static bool get_##word(const ll_hdf5* h, ll_hid list, ll_value* value) {                   \
        ll_hbool got = 0;                                                                      \
        if (h->H5Pget_##word == NULL || h->H5Pget_##word(list, &got) < 0) return false;        \
        *value = (ll_value){.count = 1, .number = {got != 0}};                                 \
        return true;                                                                           \
    }                                                                                          \
    static bool set_##word(const ll_hdf5* h, ll_hid list, const ll_value* value) {             \
        return h->H5Pset_##word != NULL && h->H5Pset_##word(list, value->number[0] != 0) >= 0; \
    }

SWITCH(all_coll_metadata_ops)
SWITCH(coll_metadata_write)

static bool get_alignment(const ll_hdf5* h, ll_hid list, ll_value* value) {
    ll_hsize threshold = 0, boundary = 0;
    if (h->H5Pget_alignment(list, &threshold, &boundary) < 0) return false;
    *value = (ll_value){.count = 2, .number = {(int64_t)threshold, (int64_t)boundary}};
    return true;
}

static bool set_alignment(const ll_hdf5* h, ll_hid list, const ll_value* value) {
    return h->H5Pset_alignment(list, (ll_hsize)value->number[0], (ll_hsize)value->number[1]) >= 0;
}

static bool get_libver_bounds(const ll_hdf5* h, ll_hid list, ll_value* value) {
    int low = 0, high = 0;
    if (h->H5Pget_libver_bounds(list, &low, &high) < 0) return false;
    *value = (ll_value){.count = 2, .number = {low, high}};
    return true;
}

static bool set_libver_bounds(const ll_hdf5* h, ll_hid list, const ll_value* value) {
    return h->H5Pset_libver_bounds(list, (int)value->number[0], (int)value->number[1]) >= 0;
}

static bool get_page_buffer_size(const ll_hdf5* h, ll_hid list, ll_value* value) {
    size_t size = 0;
    unsigned metadata = 0, raw = 0;
    if (h->H5Pget_page_buffer_size == NULL || h->H5Pget_page_buffer_size(list, &size, &metadata, &raw) < 0)
        return false;
    *value = (ll_value){.count = 1, .number = {(int64_t)size}};
    return true;
}

static bool set_page_buffer_size(const ll_hdf5* h, ll_hid list, const ll_value* value) {
    return h->H5Pset_page_buffer_size != NULL &&
           h->H5Pset_page_buffer_size(list, (size_t)value->number[0], 0, 0) >= 0;
}

static bool get_file_space_strategy(const ll_hdf5* h, ll_hid list, ll_value* value) {
    int strategy = 0;
    ll_hbool persist = 0;
    ll_hsize threshold = 0;
    if (h->H5Pget_file_space_strategy == NULL ||
        h->H5Pget_file_space_strategy(list, &strategy, &persist, &threshold) < 0)
        return false;
    *value = (ll_value){.count = 1, .number = {strategy}};
    return true;
}

static bool set_file_space_strategy(const ll_hdf5* h, ll_hid list, const ll_value* value) {
    int strategy = 0;
    ll_hbool persist = 0;
    ll_hsize threshold = 0;
    return h->H5Pget_file_space_strategy != NULL && h->H5Pset_file_space_strategy != NULL &&
           h->H5Pget_file_space_strategy(list, &strategy, &persist, &threshold) >= 0 &&
           h->H5Pset_file_space_strategy(list, (int)value->number[0], persist != 0, threshold) >= 0;
}

// The chunk cache has three parts that are set together, in a file's list or a dataset's.
typedef struct {
    size_t slots, bytes;
    double w0;
} cache;
enum { SLOTS, BYTES, W0, MILLION = 1000000 };

static bool get_file_cache(const ll_hdf5* h, ll_hid list, cache* c) {
    int unused = 0;
    return h->H5Pget_cache(list, &unused, &c->slots, &c->bytes, &c->w0) >= 0;
}

static bool set_file_cache(const ll_hdf5* h, ll_hid list, const cache* c) {
    return h->H5Pset_cache(list, 0, c->slots, c->bytes, c->w0) >= 0;  // 0: HDF5 does not look at it since 1.8
}

static bool get_dataset_cache(const ll_hdf5* h, ll_hid list, cache* c) {
    return h->H5Pget_chunk_cache(list, &c->slots, &c->bytes, &c->w0) >= 0;
}

static bool set_dataset_cache(const ll_hdf5* h, ll_hid list, const cache* c) {
    return h->H5Pset_chunk_cache(list, c->slots, c->bytes, c->w0) >= 0;
}

static int64_t part(const cache* c, int which) {
    return which == SLOTS   ? (int64_t)c->slots
           : which == BYTES ? (int64_t)c->bytes
                            : (int64_t)(c->w0 * MILLION + 0.5);
}

static void set_part(cache* c, int which, int64_t value) {
    if (which == SLOTS) c->slots = (size_t)value;
    if (which == BYTES) c->bytes = (size_t)value;
    if (which == W0) c->w0 = (double)value / MILLION;
}

#define CACHE(of, name, which)                                                            \
    static bool get_##of##_##name(const ll_hdf5* h, ll_hid list, ll_value* value) {       \
        cache c;                                                                          \
        if (!get_##of##_cache(h, list, &c)) return false;                                 \
        *value = (ll_value){.count = 1, .number = {part(&c, which)}};                     \
        return true;                                                                      \
    }                                                                                     \
    static bool set_##of##_##name(const ll_hdf5* h, ll_hid list, const ll_value* value) { \
        cache c;                                                                          \
        if (!get_##of##_cache(h, list, &c)) return false;                                 \
        set_part(&c, which, value->number[0]);                                            \
        return set_##of##_cache(h, list, &c);                                             \
    }

CACHE(file, slots, SLOTS)
CACHE(file, bytes, BYTES)
CACHE(file, w0, W0)
CACHE(dataset, slots, SLOTS)
CACHE(dataset, bytes, BYTES)
CACHE(dataset, w0, W0)

static bool get_chunk(const ll_hdf5* h, ll_hid list, ll_value* value) {
    ll_hsize size[LL_NUMBERS] = {0};
    *value = (ll_value){.count = 0};
    if (h->H5Pget_layout(list) != LL_H5_LAYOUT_CHUNKED) return true;
    value->count = h->H5Pget_chunk(list, LL_NUMBERS, size);
    for (int i = 0; i < value->count; ++i) value->number[i] = (int64_t)size[i];
    return value->count >= 0;
}

static bool set_chunk(const ll_hdf5* h, ll_hid list, const ll_value* value) {
    ll_hsize size[LL_NUMBERS];
    for (int i = 0; i < value->count; ++i) size[i] = (ll_hsize)value->number[i];
    return h->H5Pset_chunk(list, value->count, size) >= 0;
}

static bool get_transfer(const ll_hdf5* h, ll_hid list, ll_value* value) {
    int mode = 0;
    if (h->H5Pget_dxpl_mpio == NULL || h->H5Pget_dxpl_mpio(list, &mode) < 0) return false;
    *value = (ll_value){.count = 1, .number = {mode}};
    return true;
}

static bool set_transfer(const ll_hdf5* h, ll_hid list, const ll_value* value) {
    return h->H5Pset_dxpl_mpio != NULL && h->H5Pset_dxpl_mpio(list, (int)value->number[0]) >= 0;
}

const ll_property ll_properties[] = {
    {"alignment", LL_LIST_ACCESS, false, get_alignment, set_alignment},
    {"meta_block_size", LL_LIST_ACCESS, false, get_meta_block_size, set_meta_block_size},
    {"small_data_block_size", LL_LIST_ACCESS, false, get_small_data_block_size, set_small_data_block_size},
    {"sieve_buf_size", LL_LIST_ACCESS, false, get_sieve_buf_size, set_sieve_buf_size},
    {"chunk_cache_bytes", LL_LIST_ACCESS, false, get_file_bytes, set_file_bytes},
    {"chunk_cache_slots", LL_LIST_ACCESS, false, get_file_slots, set_file_slots},
    {"chunk_cache_w0", LL_LIST_ACCESS, false, get_file_w0, set_file_w0},
    {"libver_bounds", LL_LIST_ACCESS, false, get_libver_bounds, set_libver_bounds},
    {"coll_metadata_ops", LL_LIST_ACCESS, true, get_all_coll_metadata_ops, set_all_coll_metadata_ops},
    {"coll_metadata_write", LL_LIST_ACCESS, true, get_coll_metadata_write, set_coll_metadata_write},
    {"page_buffer_size", LL_LIST_ACCESS, false, get_page_buffer_size, set_page_buffer_size},
    {"file_space_strategy", LL_LIST_CREATE, false, get_file_space_strategy, set_file_space_strategy},
    {"file_space_page_size", LL_LIST_CREATE, false, get_file_space_page_size, set_file_space_page_size},
    {"fill_time", LL_LIST_DATASET, false, get_fill_time, set_fill_time},
    // Before the chunk shape, which chooses the allocation time where nobody has.
    {"alloc_time", LL_LIST_DATASET, false, get_alloc_time, set_alloc_time},
    {"chunk", LL_LIST_DATASET, false, get_chunk, set_chunk},
    {"chunk_cache_bytes", LL_LIST_DATASET_ACCESS, false, get_dataset_bytes, set_dataset_bytes},
    {"chunk_cache_slots", LL_LIST_DATASET_ACCESS, false, get_dataset_slots, set_dataset_slots},
    {"chunk_cache_w0", LL_LIST_DATASET_ACCESS, false, get_dataset_w0, set_dataset_w0},
    {"transfer", LL_LIST_TRANSFER, true, get_transfer, set_transfer},
    {.word = NULL},
};

static bool equal(const ll_value* a, const ll_value* b) {
    return a->count == b->count && memcmp(a->number, b->number, (size_t)a->count * sizeof *a->number) == 0;
}

bool ll_meant(const ll_hdf5* h, const ll_setting* setting, ll_value* value) {
    *value = (ll_value){.count = setting->numbers};
    memcpy(value->number, setting->number, sizeof value->number);
    if (setting->word->kind == LL_REAL)
        *value = (ll_value){.count = 1, .number = {(int64_t)(setting->real * MILLION + 0.5)}};
    if (strcmp(setting->name, "libver_bounds") != 0) return true;
    // earliest 0, v18 1, v110 2, v112 3, v114 4: what H5F_libver_t counts, up to the newest that this HDF5
    // knows.
    enum { LATEST = 5 };
    const int newest = h->version[0] > 1 ? LATEST : (int)h->version[1] / 2 - 3;
    for (int i = 0; i < value->count; ++i) {
        if (value->number[i] == LATEST) value->number[i] = newest;
        if (value->number[i] > newest) return false;
    }
    return true;
}

void ll_write_value(const ll_setting* setting, const ll_value* value, char* into, size_t room) {
    size_t size = 0;
    into[0] = '\0';
    for (int i = 0; i < value->count && size < room; ++i) {
        const char* choice = setting->word->kind == LL_CHOICE ? setting->word->choices : NULL;
        for (int64_t order = 0; choice != NULL && order < value->number[i]; ++order)
            choice = (choice = strchr(choice, '|')) != NULL ? choice + 1 : NULL;
        const char* comma = i > 0 ? "," : "";
        int wrote = 0;
        if (choice != NULL)
            wrote = snprintf(into + size, room - size, "%s%.*s", comma, (int)strcspn(choice, "|"), choice);
        else if (setting->word->kind == LL_YES_NO)
            wrote =
                snprintf(into + size, room - size, "%s%s", comma, value->number[i] != 0 ? "true" : "false");
        else if (setting->word->kind == LL_REAL)
            wrote = snprintf(into + size, room - size, "%s%" PRId64 ".%06" PRId64, comma,
                             value->number[i] / MILLION, value->number[i] % MILLION);
        else wrote = snprintf(into + size, room - size, "%s%" PRId64, comma, value->number[i]);
        size += wrote > 0 ? (size_t)wrote : 0;
    }
    if (value->count == 0) (void)snprintf(into, room, "none");
}

static void end(ll_outcome* outcome, ll_state state, const char* why) {
    outcome->state = state;
    outcome->why = why;
}

void ll_apply(const ll_hdf5* h, const ll_property* property, ll_hid list, ll_hid standard,
              ll_outcome* outcome) {
    const ll_setting* setting = outcome->setting;
    ll_value wanted, now, usual;
    if (!ll_meant(h, setting, &wanted)) {
        end(outcome, LL_NOT_APPLICABLE, "this HDF5 is older than the value");
        return;
    }
    if (!property->get(h, list, &now) || !property->get(h, standard, &usual)) {
        end(outcome, LL_NOT_APPLICABLE, "this HDF5 has no such property");
        return;
    }
    // An allocation time that nobody set is the layout's own: late if contiguous, by increments if chunked.
    if (strcmp(property->word, "alloc_time") == 0)
        usual.number[0] = h->H5Pget_layout(list) == LL_H5_LAYOUT_CHUNKED ? 3 : 2;
    ll_write_value(setting, &now, outcome->accepted, sizeof outcome->accepted);
    if (!equal(&now, &usual) && !equal(&now, &wanted) && !setting->override) {
        end(outcome, LL_KEPT, "the program sets it; say override to replace it");
        return;
    }
    if (!property->set(h, list, &wanted)) {
        end(outcome, LL_REFUSED, "HDF5 does not take the value");
        return;
    }
    outcome->state = LL_ACCEPTED;
    ll_read_back(h, property, list, outcome);
}

void ll_read_back(const ll_hdf5* h, const ll_property* property, ll_hid list, ll_outcome* outcome) {
    ll_value wanted, now;
    if (outcome->state != LL_ACCEPTED && outcome->state != LL_CHANGED) return;
    if (!ll_meant(h, outcome->setting, &wanted) || !property->get(h, list, &now)) return;
    ll_write_value(outcome->setting, &now, outcome->accepted, sizeof outcome->accepted);
    // An allocation time of "default" is read back as the one that the layout gives.
    const bool open = strcmp(outcome->setting->name, "alloc_time") == 0 && wanted.number[0] == 0;
    end(outcome, equal(&now, &wanted) || open ? LL_ACCEPTED : LL_CHANGED, NULL);
}
