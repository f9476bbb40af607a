// The functions that stand behind those of ours.
#ifndef LEADLINE_H5TUNER_REAL_H
#define LEADLINE_H5TUNER_REAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define LL_EXPORT __attribute__((visibility("default")))
#define LL_CALLER __builtin_return_address(0)

// What the program would have called by `name` (a literal) from `caller` (an address in its code), were we
// not preloaded; null where no loaded library has it. Remembered: a few nanoseconds after the first time.
void* ll_real(const char* name, const void* caller);

// `name` as the library that holds `address` or what it depends on has it, or else any other but ours.
void* ll_beside(const void* address, const char* name);

// `name` as that library alone has it, or null.
void* ll_within(const void* address, const char* name);

// Signals of this thread wait between these, round whatever asks the loader: it holds locks meanwhile, and a
// handler's own call may be intercepted by a library that asks it too.
void ll_hold_signals(sigset_t* before);
void ll_let_signals(const sigset_t* before);

// What was remembered of two addresses; null where nothing was, or a library was unloaded since: another may
// have its addresses by now.
void* ll_recall(const void* one, const void* other);
void ll_remember(const void* one, const void* other, void* what);

#endif
