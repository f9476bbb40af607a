// What is done to a call of HDF5's before it is made.
#ifndef LEADLINE_H5TUNER_INJECT_H
#define LEADLINE_H5TUNER_INJECT_H

#include "hdf5_calls.h"

// A file that is about to be created or opened. `invoke` makes the real call with these lists and flags.
typedef struct ll_opening {
    const char* call;  // its name, for the record
    const char* name;
    unsigned flags;
    ll_hid create_list, access_list;
    bool creates;
    void* real;
    int* error;  // errno, as the program had it and as the real call leaves it
    ll_hid (*invoke)(const struct ll_opening*, unsigned flags, ll_hid create_list, ll_hid access_list);
    const char *source, *function;  // what the asynchronous forms take besides
    unsigned line;
    ll_hid events;
} ll_opening;
ll_hid ll_open_file(const ll_opening* opening);

// A dataset that is about to be created.
typedef struct ll_dataset {
    ll_hid place;
    const char* name;
    ll_hid type, space, link_list, create_list, access_list;
    void* real;
    int* error;
    ll_hid (*invoke)(const struct ll_dataset*, ll_hid create_list, ll_hid access_list);
    const char *source, *function;
    unsigned line;
    ll_hid events;
} ll_dataset;
ll_hid ll_create_dataset(const ll_dataset* dataset);

// The transfer list to use for `count` datasets instead of `list`: either `list` itself, or a copy that
// `ll_end_transfer` closes. Both leave errno as it is.
ll_hid ll_begin_transfer(void* real, size_t count, const ll_hid* datasets, ll_hid list);
void ll_end_transfer(void* real, ll_hid list, ll_hid used);

#endif
