// Stripes of new files on CephFS, which takes them by an attribute that only an empty file may be given.
#ifndef LEADLINE_H5TUNER_INJECT_STRIPES_H
#define LEADLINE_H5TUNER_INJECT_STRIPES_H

#include "log.h"
#include "stripes.h"

// After the system's own call made or opened a file, before anything is written to it: gives it the stripes
// that are wanted of what this thread is opening (process.h), and notes that it was met.
void ll_stripe(int descriptor, const char* path, int flags);

// Takes a setting over that is of stripes.
void ll_want_stripes(ll_stripes* wanted, const ll_setting* setting);
// All of them that hold for a file.
void ll_want_all_stripes(ll_stripes* wanted, const ll_settings* settings, const char* file);

// Whether `outcome` is of stripes and the file lies on CephFS: then what the file has stands in it.
bool ll_judge_stripes(ll_outcome* outcome, const char* file);
// Records what became of all that hold for a file that was met.
void ll_tell_stripes(const ll_settings* settings, const char* call, const char* file);

#endif
