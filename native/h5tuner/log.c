// Writes the record. The file is opened for each line and closed again: a descriptor that was kept could be
// closed by a program that closes all of its own, and its number be given to a file of the program's.
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_OUTCOMES = 2000 };  // of one process: a program with a million datasets must not fill the disk

bool ll_logs(void) {
    const char* path = getenv("LEADLINE_H5_LOG");
    return path != NULL && path[0] != '\0';
}

int ll_rank(void) {
    static const char* const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID",
                                        "PALS_RANKID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char* value = getenv(names[i]);
        if (value != NULL && value[0] >= '0' && value[0] <= '9') return (int)strtol(value, NULL, 10);
    }
    return -1;
}

// By system calls: the record of what was written must not be counted among it.
static int log_file(void) {
    const char* path = getenv("LEADLINE_H5_LOG");
    char own[4096];
    struct stat status;
    if (path == NULL || path[0] == '\0') return -1;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        char host[256] = "";
        (void)gethostname(host, sizeof host - 1);
        const int size = snprintf(own, sizeof own, "%s/%s-%ld.jsonl", path, host, (long)getpid());
        if (size < 0 || (size_t)size >= sizeof own) return -1;
        path = own;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK,
                        0666);
}

void ll_log_line(const char* line, size_t size) {
    const int error = errno;
    const int file = log_file();
    if (file >= 0) {
        (void)syscall(SYS_write, file, line, size);  // one call: lines of several ranks stay whole
        (void)syscall(SYS_close, file);
    }
    errno = error;
}

static void add(ll_line* line, const char* text, size_t size) {
    // Room is kept for the end of the object.
    if (line->full || line->size + size > sizeof line->text - 16) {
        line->full = true;
        return;
    }
    memcpy(line->text + line->size, text, size);
    line->size += size;
}

static void add_key(ll_line* line, const char* key) {
    add(line, ",\"", 2);
    add(line, key, strlen(key));
    add(line, "\":", 2);
}

void ll_begin(ll_line* line, const char* kind) {
    line->size = 0;
    line->full = false;
    add(line, "{\"kind\":\"", 9);
    add(line, kind, strlen(kind));
    add(line, "\"", 1);
    ll_number(line, "process", (uint64_t)getpid());
    if (ll_rank() >= 0) ll_number(line, "rank", (uint64_t)ll_rank());
}

void ll_raw(ll_line* line, const char* key, const char* json) {
    if (line->size + strlen(key) + strlen(json) + 4 > sizeof line->text - 16) return;
    add_key(line, key);
    add(line, json, strlen(json));
}

void ll_number(ll_line* line, const char* key, uint64_t value) {
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, value);
    ll_raw(line, key, digits);
}

// A name of a file is bytes, not text: what is not ASCII is written as the character of that number.
void ll_text(ll_line* line, const char* key, const char* value) {
    char quoted[6 * 512 + 3];
    size_t size = 0;
    quoted[size++] = '"';
    for (size_t i = 0; value[i] != '\0' && i < 512; ++i) {
        const unsigned char c = (unsigned char)value[i];
        if (c == '"' || c == '\\') {
            quoted[size++] = '\\';
            quoted[size++] = (char)c;
        } else if (c < ' ' || c >= 0x7f) {
            size += (size_t)snprintf(quoted + size, 7, "\\u%04x", c);
        } else {
            quoted[size++] = (char)c;
        }
    }
    quoted[size++] = '"';
    quoted[size] = '\0';
    ll_raw(line, key, quoted);
}

void ll_end(ll_line* line) {
    memcpy(line->text + line->size, "}\n", 2);
    ll_log_line(line->text, line->size + 2);
}

void ll_log_dataset(const char* file, const char* dataset, int rank, const unsigned long long* lengths) {
    static _Atomic(int) written;
    if (atomic_fetch_add(&written, 1) >= MOST_OUTCOMES) return;
    char json[LL_NUMBERS * 22 + 3] = "[";
    size_t size = 1;
    for (int i = 0; i < rank && i < LL_NUMBERS; ++i)
        size += (size_t)snprintf(json + size, sizeof json - size, "%s%llu", i > 0 ? "," : "", lengths[i]);
    (void)strcpy(json + size, "]");
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

void ll_say(const char* format, ...) {
    const int error = errno;
    char text[512];
    va_list rest;
    va_start(rest, format);
    (void)vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    if (ll_logs()) {
        ll_line line;
        ll_begin(&line, "message");
        ll_text(&line, "text", text);
        ll_end(&line);
    } else if (ll_rank() <= 0) {
        char told[560];
        const int size = snprintf(told, sizeof told, "libleadline_h5: %s\n", text);
        if (size > 0) (void)syscall(SYS_write, 2, told, (size_t)size);
    }
    errno = error;
}
