// HDF5's properties as numbers: one way to ask, set and read back any of them.
#ifndef LEADLINE_H5TUNER_PROPERTIES_H
#define LEADLINE_H5TUNER_PROPERTIES_H

#include "hdf5_calls.h"
#include "log.h"
#include "settings.h"

typedef struct {
    int count;
    int64_t number[LL_NUMBERS];
} ll_value;

typedef enum {
    LL_LIST_ACCESS,
    LL_LIST_CREATE,
    LL_LIST_DATASET,
    LL_LIST_DATASET_ACCESS,
    LL_LIST_TRANSFER
} ll_list;

typedef struct {
    const char* word;
    ll_list list;
    bool parallel_only;
    // Both false where this HDF5 has no such property, or the list is none of its kind.
    bool (*get)(const ll_hdf5*, ll_hid list, ll_value*);
    bool (*set)(const ll_hdf5*, ll_hid list, const ll_value*);
} ll_property;

extern const ll_property ll_properties[];  // ends with one without a word

// Sets `property` in `list`, unless the program set it (it differs from what `standard` has). The outcome
// says what came of it, as far as `list` tells.
void ll_apply(const ll_hdf5* h, const ll_property* property, ll_hid list, ll_hid standard,
              ll_outcome* outcome);

// Reads it back from `list`, which is what the file or the dataset says that it uses.
void ll_read_back(const ll_hdf5* h, const ll_property* property, ll_hid list, ll_outcome* outcome);

// The numbers of a setting for this HDF5; false: it knows no such value.
bool ll_meant(const ll_hdf5* h, const ll_setting* setting, ll_value* value);

void ll_write_value(const ll_setting* setting, const ll_value* value, char* into, size_t room);

#endif
