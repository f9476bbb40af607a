// Writes the log. The file is opened for each line and closed again: a descriptor that was kept could be
// closed by a program that closes all of its own, and its number be given to a file of the program's.
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "start.h"

enum {
    MOST_OUTCOMES = 2000,  // of one process: a program with a million datasets must not fill the disk
    MOST_TEXT = 512,       // characters of one value
    END = 2                // of the object: "}\n"
};

bool ll_logs(void) { return ll_started->log[0] != '\0'; }

size_t ll_digits(char into[LL_DIGITS], uint64_t value) {
    size_t size = 1;
    for (uint64_t rest = value; rest >= 10; rest /= 10) ++size;
    into[size] = '\0';
    for (size_t at = size; at > 0; value /= 10) into[--at] = (char)('0' + value % 10);
    return size;
}

// False, and nothing is added, where it does not fit.
static bool append(char* into, size_t room, const char* text) {
    const size_t before = strlen(into), size = strlen(text);
    if (before + size >= room) return false;
    memcpy(into + before, text, size + 1);
    return true;
}

// By system calls: the log must not be counted among what was written.
static int log_file(void) {
    const char* path = ll_started->log;
    char own[LL_ROOM + sizeof ll_started->host + LL_DIGITS + 8] = "", digits[LL_DIGITS];
    if (ll_started->log_is_folder) {
        (void)ll_digits(digits, (uint64_t)getpid());
        const char* const parts[] = {path, "/", ll_started->host, "-", digits, ".jsonl"};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
            if (!append(own, sizeof own, parts[i])) return -1;
        path = own;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                        0666);
}

static bool add(ll_line* line, const char* text, size_t size) {
    if (line->size + size + END > sizeof line->text) return false;
    memcpy(line->text + line->size, text, size);
    line->size += size;
    return true;
}

static bool add_key(ll_line* line, const char* key) {
    return add(line, ",\"", 2) && add(line, key, strlen(key)) && add(line, "\":", 2);
}

void ll_begin(ll_line* line, const char* kind) {
    line->size = 0;
    (void)(add(line, "{\"kind\":\"", 9) && add(line, kind, strlen(kind)) && add(line, "\"", 1));
    ll_number(line, "process", (uint64_t)getpid());
    if (ll_started->rank >= 0) ll_number(line, "rank", (uint64_t)ll_started->rank);
}

void ll_raw(ll_line* line, const char* key, const char* json) {
    const size_t before = line->size;
    if (!add_key(line, key) || !add(line, json, strlen(json))) line->size = before;
}

void ll_number(ll_line* line, const char* key, uint64_t value) {
    char digits[LL_DIGITS];
    (void)ll_digits(digits, value);
    ll_raw(line, key, digits);
}

// A name of a file is bytes, not text: what is not ASCII is written as the character of that number.
static bool add_quoted(ll_line* line, const char* value) {
    static const char hexadecimal[] = "0123456789abcdef";
    bool fits = add(line, "\"", 1);
    for (size_t i = 0; fits && value[i] != '\0' && i < MOST_TEXT; ++i) {
        const unsigned char c = (unsigned char)value[i];
        const char escaped[] = {'\\', (char)c},
                   coded[] = {'\\', 'u', '0', '0', hexadecimal[c >> 4], hexadecimal[c & 15]};
        if (c == '"' || c == '\\') fits = add(line, escaped, sizeof escaped);
        else if (c < ' ' || c >= 0x7f) fits = add(line, coded, sizeof coded);
        else fits = add(line, escaped + 1, 1);
    }
    return fits && add(line, "\"", 1);
}

void ll_text(ll_line* line, const char* key, const char* value) {
    const size_t before = line->size;
    if (!add_key(line, key) || !add_quoted(line, value)) line->size = before;
}

void ll_end(ll_line* line) {
    const int error = errno;
    memcpy(line->text + line->size, "}\n", END);
    const int file = log_file();
    if (file >= 0) {
        ll_write_quietly(file, line->text, line->size + END);
        (void)syscall(SYS_close, file);
    }
    errno = error;
}

void ll_log_dataset(const char* file, const char* dataset, int rank, const unsigned long long* lengths) {
    static _Atomic(int) written;
    if (atomic_fetch_add(&written, 1) >= MOST_OUTCOMES) return;
    char json[LL_NUMBERS * LL_DIGITS + 3] = "[", digits[LL_DIGITS];
    for (int i = 0; i < rank && i < LL_NUMBERS; ++i) {
        (void)ll_digits(digits, lengths[i]);
        (void)(append(json, sizeof json, i > 0 ? "," : "") && append(json, sizeof json, digits));
    }
    (void)append(json, sizeof json, "]");
    ll_line line;
    ll_begin(&line, "dataset");
    ll_text(&line, "file", file);
    ll_text(&line, "dataset", dataset);
    ll_raw(&line, "lengths", json);
    ll_end(&line);
}

void ll_log_outcome(const ll_outcome* outcome, const char* call, const char* file, const char* dataset) {
    static const char* const states[] = {"accepted", "changed",        "ignored",    "kept",
                                         "refused",  "not applicable", "not reached"};
    static _Atomic(int) written;
    if (!ll_logs()) return;
    const int before = atomic_fetch_add(&written, 1);
    if (before == MOST_OUTCOMES)
        ll_say("more than %d settings were applied; the rest is not recorded", MOST_OUTCOMES);
    if (before >= MOST_OUTCOMES) return;
    ll_line line;
    ll_begin(&line, "setting");
    ll_text(&line, "call", call);
    ll_text(&line, "file", file);
    if (dataset != NULL) ll_text(&line, "dataset", dataset);
    ll_text(&line, "layer", ll_layer_name(outcome->setting->layer));
    ll_text(&line, "name", outcome->setting->name);
    ll_text(&line, "requested", outcome->setting->value);
    if (outcome->accepted[0] != '\0') ll_text(&line, "accepted", outcome->accepted);
    ll_text(&line, "state", states[outcome->state]);
    if (outcome->why != NULL) ll_text(&line, "why", outcome->why);
    ll_end(&line);
}

static void say(const char* format, va_list rest, bool speaks) {
    char text[MOST_TEXT], told[MOST_TEXT + 32];
    (void)vsnprintf(text, sizeof text, format, rest);
    if (ll_logs()) {
        ll_line line;
        ll_begin(&line, "message");
        ll_text(&line, "text", text);
        ll_end(&line);
    } else if (speaks) {
        const int size = snprintf(told, sizeof told, "libleadline_h5: %s\n", text);
        if (size > 0) ll_write_error(told, (size_t)size);
    }
}

void ll_say(const char* format, ...) {
    const int error = errno;
    va_list rest;
    va_start(rest, format);
    say(format, rest, ll_started->rank <= 0);
    va_end(rest);
    errno = error;
}

void ll_say_alone(const char* format, ...) {
    const int error = errno;
    va_list rest;
    va_start(rest, format);
    say(format, rest, true);
    va_end(rest);
    errno = error;
}
