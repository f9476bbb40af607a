// The TOML form, as much of TOML as it needs: tables [hdf5], [mpi-io] and [file-system] for all files, and
// [[match]] for those that its keys `file` and `dataset` name, in which a setting is written with its layer,
// hdf5.chunk = [4, 4]. A value is a string, an integer, a real, true, false, or an array of those on one
// line.
#include <ctype.h>
#include <string.h>

#include "settings.h"

typedef struct {
    const char *at, *end;  // of the line
    int line;
    int layer;         // of the table, or 0
    bool match;        // in a [[match]]
    int first;         // setting of this table
    int layers;        // tables of settings that were there
    unsigned keys;     // of [[match]] itself that were there
    ll_setting table;  // what holds for each setting of a [[match]]
    ll_settings* settings;
} reader;

#define REFUSE(r, ...) ll_refuse((r)->settings, (r)->line, __VA_ARGS__)

static void skip_space(reader* r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) ++r->at;
}

static bool at_end(reader* r) {
    skip_space(r);
    return r->at == r->end || *r->at == '#';
}

static bool key(reader* r, char* into) {
    size_t length = 0;
    skip_space(r);
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '_' || *r->at == '-')) {
        if (length == LL_NAME - 1) return REFUSE(r, "a name of more than %d characters", LL_NAME - 1);
        into[length++] = *r->at++;
    }
    into[length] = '\0';
    skip_space(r);
    return length > 0 ||
           REFUSE(r, "a name is wanted, got '%.*s'", (int)(r->end - r->at > 20 ? 20 : r->end - r->at), r->at);
}

static int layer_named(const char* name) {
    for (int layer = LL_HDF5; layer <= LL_FILE_SYSTEM; layer *= 2)
        if (strcmp(ll_layer_name(layer), name) == 0) return layer;
    return 0;
}

// Settings of a [[match]] may stand before its patterns: they are given them at its end.
static bool end_match(reader* r) {
    if (!r->match) return true;
    for (int i = r->first; i < r->settings->count; ++i) {
        ll_setting* set = &r->settings->item[i];
        (void)strcpy(set->file, r->table.file);
        (void)strcpy(set->dataset, r->table.dataset);
        set->override = r->table.override;
    }
    if (r->table.file[0] == '\0' && r->table.dataset[0] == '\0' && !r->table.override)
        return ll_refuse(r->settings, r->table.line, "[[match]] needs file, dataset or override");
    r->match = false;
    return true;
}

static bool header(reader* r) {
    const bool array = r->end - r->at >= 2 && r->at[1] == '[';
    char name[LL_NAME];
    if (!end_match(r)) return false;
    r->at += array ? 2 : 1;
    if (!key(r, name)) return false;
    for (int i = 0; i <= array; ++i, ++r->at)
        if (r->at >= r->end || *r->at != ']') return REFUSE(r, "%s is not closed", array ? "[[" : "[");
    if (!at_end(r)) return REFUSE(r, "more than a table's name on its line");
    r->layer = array ? 0 : layer_named(name);
    r->match = array && strcmp(name, "match") == 0;
    r->first = r->settings->count;
    r->keys = 0;
    r->table = (ll_setting){.line = r->line};
    if (!r->match && r->layer == 0)
        return REFUSE(r, "unknown table %s%s%s; known are: [hdf5], [mpi-io], [file-system], [[match]]",
                      array ? "[[" : "[", name, array ? "]]" : "]");
    if ((r->layers & r->layer) != 0) return REFUSE(r, "a second table [%s]", name);
    r->layers |= r->layer;
    return true;
}

static bool put(reader* r, char* into, size_t* length, char c) {
    if (*length == LL_VALUE - 1) return REFUSE(r, "a value of more than %d characters", LL_VALUE - 1);
    into[(*length)++] = c;
    into[*length] = '\0';
    return true;
}

static bool string(reader* r, char* into, size_t* length) {
    const char quote = *r->at++;
    for (; r->at < r->end && *r->at != quote; ++r->at) {
        char c = *r->at;
        if (c == '\\' && quote == '"') {
            if (++r->at == r->end || (*r->at != '"' && *r->at != '\\'))
                return REFUSE(r, "only \\\" and \\\\ may follow a backslash");
            c = *r->at;
        }
        if (!put(r, into, length, c)) return false;
    }
    if (r->at == r->end) return REFUSE(r, "a string does not end on its line");
    ++r->at;
    return true;
}

// A number, true or false; underscores between digits are dropped.
static bool bare(reader* r, char* into, size_t* length) {
    const size_t before = *length;
    for (; r->at < r->end && (isalnum((unsigned char)*r->at) || strchr("+-._", *r->at) != NULL); ++r->at)
        if (*r->at != '_' && !(*r->at == '+' && *length == before) && !put(r, into, length, *r->at))
            return false;
    if (*length == before) return REFUSE(r, "a value is wanted: a number, \"text\", true, false or [a, b]");
    const char first = into[before];
    const bool word = strcmp(into + before, "true") == 0 || strcmp(into + before, "false") == 0;
    if (!word && !isdigit((unsigned char)first) && first != '-' && first != '.')
        return REFUSE(r, "text needs quotes: \"%.60s\"", into + before);
    return true;
}

static bool one(reader* r, char* into, size_t* length) {
    skip_space(r);
    if (r->at < r->end && (*r->at == '"' || *r->at == '\'')) return string(r, into, length);
    return bare(r, into, length);
}

static bool value(reader* r, char* into) {
    size_t length = 0;
    into[0] = '\0';
    skip_space(r);
    if (r->at == r->end || *r->at != '[') {
        if (!one(r, into, &length)) return false;
    } else {
        ++r->at;
        for (;;) {
            if (!one(r, into, &length)) return false;
            skip_space(r);
            if (r->at < r->end && *r->at == ']') break;
            if (r->at == r->end || *r->at++ != ',')
                return REFUSE(r, "an array's values are parted by commas, on one line");
            if (!put(r, into, &length, ',')) return false;
        }
        ++r->at;
    }
    return at_end(r) ||
           REFUSE(r, "more than one value: '%.*s'", (int)(r->end - r->at > 40 ? 40 : r->end - r->at), r->at);
}

// A key of [[match]] itself.
static bool of_match(reader* r, const char* name, const char* text) {
    const unsigned key = name[0] == 'f' ? 1 : name[0] == 'd' ? 2 : 4;
    if ((r->keys & key) != 0) return REFUSE(r, "'%s' is given twice in a [[match]]", name);
    r->keys |= key;
    if (strcmp(name, "file") == 0) (void)strcpy(r->table.file, text);
    else if (strcmp(name, "dataset") == 0) (void)strcpy(r->table.dataset, text);
    else if (strcmp(name, "override") == 0 && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        r->table.override = text[0] == 't';
    else if (strcmp(name, "override") == 0)
        return REFUSE(r, "override wants true or false, got '%.60s'", text);
    else return REFUSE(r, "unknown key '%s' of [[match]]; write its layer too, as hdf5.%s", name, name);
    return true;
}

// The same setting twice in a table. A hint may stand in either of two: there it would be given twice as
// well.
static bool is_new(reader* r, const ll_setting* set) {
    for (int i = r->match ? r->first : 0; i < r->settings->count; ++i) {
        const ll_setting* before = &r->settings->item[i];
        const bool global = before->file[0] == '\0' && before->dataset[0] == '\0' && !before->override;
        if (strcmp(before->name, set->name) == 0 && (r->match || global))
            return REFUSE(r, "'%s' is given twice; it was given in line %d", set->name, before->line);
    }
    return true;
}

static bool pair(reader* r) {
    char name[LL_NAME], text[LL_VALUE];
    ll_setting set = {.layer = r->layer, .line = r->line};
    if (!key(r, name)) return false;
    if (r->at < r->end && *r->at == '.') {
        set.layer = r->layer == 0 ? layer_named(name) : 0;
        if (set.layer == 0)
            return REFUSE(r, "unknown layer '%s'; known are: hdf5, mpi-io, file-system", name);
        ++r->at;
        if (!key(r, name)) return false;
    }
    if (r->at == r->end || *r->at != '=') return REFUSE(r, "'=' is wanted after '%s'", name);
    ++r->at;
    if (!value(r, text)) return false;
    if (set.layer == 0 && r->match) return of_match(r, name, text);
    if (set.layer == 0)
        return REFUSE(r, "'%s' stands in no table; begin with [hdf5], [mpi-io] or [file-system]", name);
    (void)strcpy(set.name, name);
    (void)strcpy(set.value, text);
    return is_new(r, &set) && ll_add(r->settings, &set);
}

bool ll_parse_toml(const char* text, size_t size, ll_settings* settings) {
    reader r = {.settings = settings};
    const char* end = text + size;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) text += 3;
    while (text < end) {
        const char* next = memchr(text, '\n', (size_t)(end - text));
        r.at = text;
        r.end = next != NULL ? next : end;
        text = next != NULL ? next + 1 : end;
        ++r.line;
        if (at_end(&r)) continue;
        if (!(*r.at == '[' ? header(&r) : pair(&r))) return false;
    }
    return end_match(&r);
}
