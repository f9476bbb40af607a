// The functions that stand behind those of ours.
#ifndef LEADLINE_H5TUNER_REAL_H
#define LEADLINE_H5TUNER_REAL_H

#include <stdbool.h>

#define LL_EXPORT __attribute__((visibility("default")))
#define LL_CALLER __builtin_return_address(0)

// What the program would have called by `name` from `caller` (an address in its code), were we not preloaded;
// null where no loaded library has it. Remembered: a few nanoseconds after the first time.
void* ll_real(const char* name, const void* caller);

// A handle for dlsym of the library that holds `address`, kept for good; null for the program itself.
void* ll_library_of(const void* address);

// `name` as that library or what it depends on has it, or else any other but ours.
void* ll_beside(void* library, const char* name);

#endif
