// Reading a settings file of either form, and the validation that both share.
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ll_refuse(ll_settings* settings, int line, const char* format, ...) {
    char what[LL_PROBLEM - 32];
    va_list rest;
    va_start(rest, format);
    (void)vsnprintf(what, sizeof what, format, rest);
    va_end(rest);
    for (char* c = what; *c != '\0'; ++c)  // what a hostile file holds reaches a terminal
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    if (line > 0) (void)snprintf(settings->problem, sizeof settings->problem, "line %d: %s", line, what);
    else (void)snprintf(settings->problem, sizeof settings->problem, "%s", what);
    settings->count = 0;
    return false;
}

// Removes spaces at both ends and round commas, so that " 0, 65536 " is "0,65536".
static void tidy(char* value) {
    char* to = value;
    for (const char* from = value; *from != '\0'; ++from) {
        if (!isspace((unsigned char)*from)) {
            *to++ = *from;
            continue;
        }
        const char* next = from;
        while (isspace((unsigned char)*next)) ++next;
        const bool outside = to == value || to[-1] == ',' || *next == ',' || *next == '\0';
        if (!outside) *to++ = ' ';
        from = next - 1;
    }
    *to = '\0';
}

static bool integers(ll_settings* settings, ll_setting* set) {
    const ll_word* word = set->word;
    const char* at = set->value;
    for (;;) {
        char* end = NULL;
        errno = 0;
        const long long got = strtoll(at, &end, 10);
        if (end == at || errno != 0 || (*end != ',' && *end != '\0') || isspace((unsigned char)*at))
            return ll_refuse(settings, set->line, "%s wants %s, got '%.60s'", set->name,
                             word->counts[1] == 1 ? "an integer" : "integers parted by commas", set->value);
        if (got < word->least || got > word->most)
            return ll_refuse(settings, set->line, "%s must be %" PRId64 " to %" PRId64 ", got %lld",
                             set->name, word->least, word->most, got);
        if (set->numbers == word->counts[1]) break;
        set->number[set->numbers++] = got;
        if (*end == '\0' && set->numbers >= word->counts[0]) return true;
        if (*end == '\0') break;
        at = end + 1;
    }
    if (word->counts[0] == word->counts[1])
        return ll_refuse(settings, set->line, "%s wants %d integer%s, got '%.60s'", set->name,
                         word->counts[0], word->counts[0] == 1 ? "" : "s", set->value);
    return ll_refuse(settings, set->line, "%s wants %d to %d integers, got '%.60s'", set->name,
                     word->counts[0], word->counts[1], set->value);
}

// The order of the choice that `length` characters of `text` name, or -1.
static int choice(const char* choices, const char* text, size_t length) {
    int order = 0;
    for (const char* at = choices;; ++order) {
        const size_t size = strcspn(at, "|");
        if (size == length && strncmp(at, text, length) == 0) return order;
        if (at[size] == '\0') return -1;
        at += size + 1;
    }
}

static bool choose(ll_settings* settings, ll_setting* set) {
    const ll_word* word = set->word;
    for (const char* at = set->value; set->numbers < word->counts[1]; ++set->numbers) {
        const size_t length = strcspn(at, ",");
        const int order = choice(word->choices, at, length);
        if (order < 0) break;
        set->number[set->numbers] = order;
        at += length;
        if (*at == '\0') {
            if (++set->numbers == word->counts[0]) return true;
            break;
        }
        ++at;
    }
    return ll_refuse(settings, set->line, "%s wants %s%s, got '%.60s'", set->name,
                     word->counts[0] == 2 ? "two of " : "one of ", word->choices, set->value);
}

static bool yes_no(ll_settings* settings, ll_setting* set) {
    const bool yes = strcmp(set->value, "true") == 0 || strcmp(set->value, "1") == 0;
    if (!yes && strcmp(set->value, "false") != 0 && strcmp(set->value, "0") != 0)
        return ll_refuse(settings, set->line, "%s wants true or false, got '%.60s'", set->name, set->value);
    set->number[set->numbers++] = yes;
    (void)strcpy(set->value, yes ? "true" : "false");
    return true;
}

// Digits with a point, whatever the program's locale takes for one.
static bool real(ll_settings* settings, ll_setting* set) {
    const char* at = set->value;
    double unit = 0;
    set->real = 0;
    for (; isdigit((unsigned char)*at) || (*at == '.' && unit == 0); ++at) {
        if (*at == '.') unit = 1;
        else if (unit == 0) set->real = 10 * set->real + (*at - '0');
        else set->real += (*at - '0') * (unit /= 10);
    }
    if (*at != '\0' || !(set->real >= (double)set->word->least && set->real <= (double)set->word->most))
        return ll_refuse(settings, set->line, "%s must be %" PRId64 " to %" PRId64 ", got '%.60s'", set->name,
                         set->word->least, set->word->most, set->value);
    return true;
}

static bool understood(ll_settings* settings, ll_setting* set) {
    switch (set->word->kind) {
        case LL_INTEGER:
        case LL_INTEGERS: return integers(settings, set);
        case LL_REAL: return real(settings, set);
        case LL_YES_NO: return yes_no(settings, set);
        case LL_CHOICE: return choose(settings, set);
        case LL_TEXT: return true;
    }
    return true;
}

bool ll_add(ll_settings* settings, const ll_setting* setting) {
    ll_setting set = *setting;
    set.numbers = 0;
    tidy(set.value);
    for (const char* c = set.value; *c != '\0'; ++c)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return ll_refuse(settings, set.line, "%s has a control character in its value", set.name);
    set.word = ll_find_word(set.layer, set.name);
    if (set.word == NULL && (set.layer == LL_HDF5 || !ll_vendor_hint(set.name)))
        return ll_refuse(settings, set.line, "unknown setting '%s' of %s", set.name,
                         ll_layer_name(set.layer));
    if (set.value[0] == '\0') return ll_refuse(settings, set.line, "%s has no value", set.name);
    if (settings->count == LL_SETTINGS)
        return ll_refuse(settings, set.line, "more than %d settings", LL_SETTINGS);
    if (set.word != NULL && !understood(settings, &set)) return false;
    // A yes or no of MPI-IO may be said in any of three ways, but is handed over in one.
    settings->item[settings->count++] = set;
    return true;
}

// FNV-1a, 64 bits: to see that two texts are alike, not to keep secrets.
static uint64_t hash(const char* text, size_t size) {
    uint64_t value = 14695981039346656037u;
    for (size_t i = 0; i < size; ++i) value = (value ^ (unsigned char)text[i]) * 1099511628211u;
    return value;
}

bool ll_parse(const char* text, size_t size, ll_settings* settings) {
    settings->count = 0;
    settings->problem[0] = '\0';
    settings->hash = hash(text, size);
    if (size > LL_FILE_SIZE) return ll_refuse(settings, 0, "more than %d bytes", LL_FILE_SIZE);
    if (memchr(text, '\0', size) != NULL)
        return ll_refuse(settings, 0, "it holds a zero byte, so it is no text");
    size_t at = 0;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) at = 3;
    while (at < size && isspace((unsigned char)text[at])) ++at;
    const bool xml = at < size && text[at] == '<';
    return xml ? ll_parse_xml(text, size, settings) : ll_parse_toml(text, size, settings);
}

bool ll_load(const char* path, ll_settings* settings) {
    settings->count = 0;
    settings->hash = 0;
    struct stat status;
    // Without waiting: the name may be a pipe that nobody writes to.
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return ll_refuse(settings, 0, "%s", strerror(errno));
    bool good = false;
    char* text = NULL;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        (void)ll_refuse(settings, 0, "it is no regular file");
    else if (status.st_size > LL_FILE_SIZE)
        (void)ll_refuse(settings, 0, "%lld bytes; at most %d are read", (long long)status.st_size,
                        LL_FILE_SIZE);
    else if ((text = malloc(LL_FILE_SIZE + 1)) == NULL) (void)ll_refuse(settings, 0, "no memory");
    else {
        const ssize_t size = read(file, text, LL_FILE_SIZE + 1);
        good =
            size < 0 ? ll_refuse(settings, 0, "%s", strerror(errno)) : ll_parse(text, (size_t)size, settings);
    }
    free(text);
    (void)close(file);
    return good;
}

// A pattern holds for a path as it is and for its last part, as H5Tuner's FileName does.
static bool matches(const char* pattern, const char* path, bool base) {
    if (pattern[0] == '\0') return true;
    if (path == NULL) return false;
    if (fnmatch(pattern, path, 0) == 0) return true;
    const char* last = strrchr(path, '/');
    return base && last != NULL && fnmatch(pattern, last + 1, 0) == 0;
}

bool ll_applies(const ll_setting* setting, const char* file, const char* dataset) {
    return matches(setting->file, file, true) && matches(setting->dataset, dataset, false);
}

const ll_setting* ll_wanted(const ll_settings* settings, const char* name, const char* file,
                            const char* dataset) {
    const ll_setting* best = NULL;
    int most = -1;
    for (int i = 0; i < settings->count; ++i) {
        const ll_setting* set = &settings->item[i];
        if (strcmp(set->name, name) != 0 || !ll_applies(set, file, dataset)) continue;
        const int narrow = (set->file[0] != '\0') + 2 * (set->dataset[0] != '\0');
        if (narrow >= most) {
            best = set;
            most = narrow;
        }
    }
    return best;
}
