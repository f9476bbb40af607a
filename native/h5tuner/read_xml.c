// H5Tuner's XML: an element <Parameters>, in it one for each layer, in that one for each setting, whose text
// is the value and whose attributes say for which file. No more of XML than that: no entities but the five
// that are built in, no document type, no processing but the first line's, and a depth of three.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "settings.h"

typedef struct {
    const char *at, *end;
    int line;
    int depth;
    char open[LL_DEPTH][LL_NAME];
    ll_setting setting;  // that is being read, at depth three
    size_t length;       // of its value
    ll_settings* settings;
} reader;

#define REFUSE(r, ...) ll_refuse((r)->settings, (r)->line, __VA_ARGS__)

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static void skip(reader* r, size_t size) {
    for (; size > 0 && r->at < r->end; --size)
        if (*r->at++ == '\n') ++r->line;
}

static void skip_space(reader* r) {
    while (r->at < r->end && is_space(*r->at)) skip(r, 1);
}

static bool begins(const reader* r, const char* text) {
    const size_t size = strlen(text);
    return (size_t)(r->end - r->at) >= size && memcmp(r->at, text, size) == 0;
}

// Moves past the next `text`.
static bool past(reader* r, const char* text, const char* what) {
    const int line = r->line;
    while (r->at < r->end && !begins(r, text)) skip(r, 1);
    if (r->at == r->end) return ll_refuse(r->settings, line, "%s does not end", what);
    skip(r, strlen(text));
    return true;
}

static bool name(reader* r, char* into) {
    size_t length = 0;
    for (; r->at < r->end && is_name(*r->at); ++r->at) {
        if (length == LL_NAME - 1) return REFUSE(r, "a name of more than %d characters", LL_NAME - 1);
        into[length++] = *r->at;
    }
    into[length] = '\0';
    return length > 0 || REFUSE(r, "a name is wanted after '<'");
}

// One character of text or of an attribute, entities resolved; false for what is no text.
static bool character(reader* r, char* into) {
    static const struct {
        const char* written;
        char meant;
    } entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    if (*r->at != '&') {
        *into = *r->at;
        skip(r, 1);
        return true;
    }
    for (size_t i = 0; i < sizeof entities / sizeof *entities; ++i) {
        if (!begins(r, entities[i].written)) continue;
        *into = entities[i].meant;
        skip(r, strlen(entities[i].written));
        return true;
    }
    return REFUSE(r, "only the entities lt, gt, amp, quot and apos are known");
}

static bool attribute_value(reader* r, char* into, size_t room) {
    skip_space(r);
    if (r->at == r->end || *r->at != '=') return REFUSE(r, "an attribute needs '=' and a value in quotes");
    skip(r, 1);
    skip_space(r);
    if (r->at == r->end || (*r->at != '"' && *r->at != '\''))
        return REFUSE(r, "an attribute's value needs quotes");
    const char quote = *r->at;
    skip(r, 1);
    size_t length = 0;
    while (r->at < r->end && *r->at != quote) {
        if (*r->at == '<' || *r->at == '\n') break;
        if (length == room - 1) return REFUSE(r, "an attribute of more than %zu characters", room - 1);
        if (!character(r, &into[length])) return false;
        ++length;
    }
    into[length] = '\0';
    if (r->at == r->end || *r->at != quote) return REFUSE(r, "an attribute's value does not end");
    skip(r, 1);
    return true;
}

static bool attribute(reader* r) {
    char key[LL_NAME], value[LL_PATTERN];
    if (!name(r, key) || !attribute_value(r, value, sizeof value)) return false;
    if (r->depth != LL_DEPTH) return REFUSE(r, "<%s> takes no attribute", r->open[r->depth - 1]);
    if (strcmp(key, "FileName") == 0 || strcmp(key, "file") == 0) {
        (void)strcpy(r->setting.file, value);
    } else if (strcmp(key, "VariableName") == 0 || strcmp(key, "dataset") == 0) {
        (void)strcpy(r->setting.dataset, value);
    } else if (strcmp(key, "override") == 0) {
        r->setting.override = strcmp(value, "true") == 0;
        if (!r->setting.override && strcmp(value, "false") != 0)
            return REFUSE(r, "override wants true or false, got '%.60s'", value);
    } else {
        return REFUSE(r, "unknown attribute '%s'; known are: FileName, VariableName, override", key);
    }
    return true;
}

static bool enter(reader* r, const char* word) {
    static const struct {
        const char* name;
        int layer;
    } layers[] = {{"High_Level_IO_Library", LL_HDF5},
                  {"Middleware_Layer", LL_MPI_IO},
                  {"Parallel_File_System", LL_FILE_SYSTEM}};
    if (r->depth == 1) {
        if (strcasecmp(word, "Parameters") != 0)
            return REFUSE(r, "the first element must be <Parameters>, got <%s>", word);
    } else if (r->depth == 2) {
        for (size_t i = 0; i < sizeof layers / sizeof *layers; ++i) {
            if (strcasecmp(layers[i].name, word) != 0) continue;
            r->setting.layer = layers[i].layer;
            return true;
        }
        return REFUSE(
            r, "unknown layer <%s>; known are: High_Level_IO_Library, Middleware_Layer, Parallel_File_System",
            word);
    } else {
        ll_setting* set = &r->setting;
        *set = (ll_setting){.layer = set->layer, .line = r->line};
        (void)strcpy(set->name, word);
        r->length = 0;
    }
    return true;
}

static bool leave(reader* r) {
    r->setting.value[r->length] = '\0';
    if (r->depth == LL_DEPTH && !ll_add(r->settings, &r->setting)) return false;
    r->length = 0;
    --r->depth;
    return true;
}

static bool start_tag(reader* r) {
    if (r->depth == LL_DEPTH) return REFUSE(r, "elements more than %d deep", LL_DEPTH);
    if (r->depth == 0 && r->open[0][0] != '\0') return REFUSE(r, "a second element after </%s>", r->open[0]);
    char* word = r->open[r->depth++];
    if (!name(r, word) || !enter(r, word)) return false;
    for (;;) {
        skip_space(r);
        if (begins(r, "/>")) {
            skip(r, 2);
            return leave(r);
        }
        if (r->at < r->end && *r->at == '>') {
            skip(r, 1);
            return true;
        }
        if (r->at == r->end || !is_name(*r->at)) return REFUSE(r, "<%s does not end with '>'", word);
        if (!attribute(r)) return false;
    }
}

static bool end_tag(reader* r) {
    char word[LL_NAME];
    skip(r, 2);
    if (!name(r, word)) return false;
    skip_space(r);
    if (r->at == r->end || *r->at != '>') return REFUSE(r, "</%s does not end with '>'", word);
    skip(r, 1);
    if (r->depth == 0) return REFUSE(r, "</%s> ends nothing", word);
    if (strcmp(word, r->open[r->depth - 1]) != 0)
        return REFUSE(r, "</%s> where </%s> is due", word, r->open[r->depth - 1]);
    return leave(r);
}

static bool text(reader* r) {
    char got = 0;
    const bool space = is_space(*r->at);
    if (!space && r->depth != LL_DEPTH) return REFUSE(r, "text outside a setting");
    if (!character(r, &got)) return false;
    if (r->depth != LL_DEPTH) return true;
    if (r->length == LL_VALUE - 1) return REFUSE(r, "a value of more than %d characters", LL_VALUE - 1);
    r->setting.value[r->length++] = space ? ' ' : got;
    return true;
}

static bool piece(reader* r) {
    if (begins(r, "<!--")) return past(r, "-->", "a comment");
    if (begins(r, "<?")) return past(r, "?>", "a processing instruction");
    if (begins(r, "<!")) return REFUSE(r, "document types and entities are not taken");
    if (begins(r, "</")) return end_tag(r);
    if (*r->at != '<') return text(r);
    skip(r, 1);
    return start_tag(r);
}

bool ll_parse_xml(const char* text, size_t size, ll_settings* settings) {
    reader r = {.at = text, .end = text + size, .line = 1, .settings = settings};
    if (begins(&r, "\xef\xbb\xbf")) skip(&r, 3);
    while (r.at < r.end)
        if (!piece(&r)) return false;
    if (r.depth > 0) return REFUSE(&r, "<%s> is not closed", r.open[r.depth - 1]);
    return true;
}
