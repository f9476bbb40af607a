// The log of what was requested, accepted and observed: JSON, one object a line, appended to the file that
// LEADLINE_H5_LOG names, or to one for each process where it names a directory.
//
// Lines are built and written without allocating, locking or formatting by the C library, so that a file that
// is closed in a signal handler can be recorded there.
#ifndef LEADLINE_H5TUNER_LOG_H
#define LEADLINE_H5TUNER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings.h"

// What became of a setting.
typedef enum {
    LL_ACCEPTED,        // read back as it was asked
    LL_CHANGED,         // read back otherwise
    LL_IGNORED,         // the library took it without a word and does not know it
    LL_KEPT,            // the program had set it, and `override` was not said
    LL_REFUSED,         // the library gave an error, and the program's call was made without it
    LL_NOT_APPLICABLE,  // it means nothing here
    LL_NOT_REACHED      // the call that it would change was never seen
} ll_state;

typedef struct {
    const ll_setting* setting;
    ll_state state;
    char accepted[LL_VALUE];  // as it was read back; empty: it was not
    const char* why;          // a literal, or null
} ll_outcome;

bool ll_logs(void);  // whether there is a log

void ll_log_outcome(const ll_outcome* outcome, const char* call, const char* file, const char* dataset);
// A dataset that was made, with its lengths.
void ll_log_dataset(const char* file, const char* dataset, int rank, const unsigned long long* lengths);

// One sentence: into the log if there is one, else on standard error, from one rank. Not for signal handlers.
void ll_say(const char* format, ...) __attribute__((format(printf, 1, 2)));
// The same where only one rank comes by.
void ll_say_alone(const char* format, ...) __attribute__((format(printf, 1, 2)));

// A line under way. What does not fit is left out, and the line stays well formed.
typedef struct {
    char text[4096];
    size_t size;
} ll_line;
void ll_begin(ll_line* line, const char* kind);  // with process and rank
void ll_text(ll_line* line, const char* key, const char* value);
void ll_number(ll_line* line, const char* key, uint64_t value);
void ll_raw(ll_line* line, const char* key, const char* json);
void ll_end(ll_line* line);  // written

enum { LL_DIGITS = 21 };
size_t ll_digits(char into[LL_DIGITS], uint64_t value);  // how many there are; a zero byte follows them

#endif
