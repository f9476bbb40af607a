// What is known of the process from its start: environment and standard error are read once, before the
// program runs, so that nothing has to be looked up in a signal handler, after clearenv() or after a chdir().
#ifndef LEADLINE_H5TUNER_START_H
#define LEADLINE_H5TUNER_START_H

#include <stdbool.h>
#include <stddef.h>

enum { LL_ROOM = 4096 };  // of a path

typedef struct {
    char log[LL_ROOM];       // absolute; empty: no log is wanted
    char settings[LL_ROOM];  // absolute; empty: none are named
    char host[256];
    bool log_is_folder;
    int rank, ranks, local_ranks;  // as the launcher's environment has them; -1: it does not
    const char* rank_variable;     // the variable that gave the rank, or null
} ll_start;

extern const ll_start* const ll_started;

// False in a child that shares its parent's memory (vfork), and in one that was made by no fork of the C
// library: nothing may be counted there.
bool ll_own_process(void);

// Writes to standard error, if that still is what it was when the process started; else nowhere.
void ll_write_error(const char* text, size_t size);
// Writes without a signal that could end the program (SIGPIPE, SIGXFSZ, SIGTTOU).
void ll_write_quietly(int descriptor, const char* text, size_t size);

#endif
