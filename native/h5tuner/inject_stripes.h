// Stripes of new files on CephFS, which takes them by an attribute that only an empty file may be given.
#ifndef LEADLINE_H5TUNER_INJECT_STRIPES_H
#define LEADLINE_H5TUNER_INJECT_STRIPES_H

#include "log.h"
#include "stripes.h"

// What a file that is being made is to have, 0: as it comes; and whether one was met that has such stripes.
typedef struct {
    ll_stripes wanted;
    bool met;
} ll_striping;

// Of the file that this thread is opening; null: nothing is asked of it.
extern _Thread_local ll_striping* ll_striping_now __attribute__((tls_model("initial-exec")));

// After the system's own call made or opened a file, before anything is written to it.
void ll_stripe(int descriptor, int flags);

// Takes a setting over that is of stripes.
void ll_want_stripes(ll_striping* striping, const ll_setting* setting);
// All of them that hold for a file.
void ll_want_all_stripes(ll_striping* striping, const ll_settings* settings, const char* file);

// Whether `outcome` is of stripes and the file lies on CephFS: then what the file has stands in it.
bool ll_judge_stripes(ll_outcome* outcome, const char* file);
// Records what became of all that hold for a file, if it was met.
void ll_tell_stripes(const ll_striping* striping, const ll_settings* settings, const char* call,
                     const char* file);

#endif
