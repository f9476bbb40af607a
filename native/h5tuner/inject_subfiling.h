// HDF5's subfiling driver, which takes its settings from the environment when a file is created.
#ifndef LEADLINE_H5TUNER_INJECT_SUBFILING_H
#define LEADLINE_H5TUNER_INJECT_SUBFILING_H

#include "inject.h"
#include "log.h"

enum { LL_SUBFILING_WORDS = 2 };

typedef struct {
    int count;
    ll_outcome outcome[LL_SUBFILING_WORDS];
    bool set;                          // whether any variable is
    bool ours[LL_SUBFILING_WORDS];     // whether that of a word is
    char* before[LL_SUBFILING_WORDS];  // as it was; null: it was not there
} ll_subfiling;

bool ll_wants_subfiling(const ll_settings* settings, const char* file);

// Sets the variables for one opening, and puts them back.
void ll_begin_subfiling(ll_subfiling* s, const ll_hdf5* h, const ll_settings* settings,
                        const ll_opening* opening);
void ll_end_subfiling(ll_subfiling* s);

// Records what became of them: what the file is made of, as the driver writes it beside the file.
void ll_tell_subfiling(ll_subfiling* s, const ll_opening* opening);

#endif
