// What `leadline io check` calls: the readers and the vocabulary of the preloaded library, as JSON lines.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "real.h"
#include "settings.h"

typedef struct {
    char* at;
    size_t room;
} text;

static void add(text* into, ll_line* line) {
    if (line->size + 3 > into->room) return;
    line->text[0] = '{';
    memcpy(into->at, line->text, line->size);
    memcpy(into->at + line->size, "}\n", 3);
    into->at += line->size + 2;
    into->room -= line->size + 2;
}

static void part(ll_line* line, const char* key, const char* value) {
    // A line begins with a comma, which the brace replaces.
    ll_text(line, key, value);
}

// Whether the file at `path` is good. `into` has its settings, or one sentence on what is wrong with it.
LL_EXPORT int leadline_h5_check(const char* path, char* into, size_t room);
LL_EXPORT int leadline_h5_check(const char* path, char* into, size_t room) {
    ll_settings* settings = malloc(sizeof *settings);
    if (settings == NULL) return 0;
    const bool good = ll_load(path, settings);
    if (!good) (void)snprintf(into, room, "%s", settings->problem);
    text to = {into, room};
    if (good) into[0] = '\0';
    for (int i = 0; good && i < settings->count; ++i) {
        const ll_setting* set = &settings->item[i];
        static const char* const safety[] = {"hint", "layout", "semantics"};
        ll_line line = {.size = 0};
        part(&line, "layer", ll_layer_name(set->layer));
        part(&line, "name", set->name);
        part(&line, "value", set->value);
        part(&line, "file", set->file);
        part(&line, "dataset", set->dataset);
        part(&line, "safety", set->word != NULL ? safety[set->word->safety] : "");
        ll_raw(&line, "override", set->override ? "true" : "false");
        ll_number(&line, "line", (uint64_t)set->line);
        add(&to, &line);
    }
    free(settings);
    return good;
}

// Every word with its layer, what it takes and what it is for.
LL_EXPORT void leadline_h5_words(char* into, size_t room);
LL_EXPORT void leadline_h5_words(char* into, size_t room) {
    static const char* const kinds[] = {"integer", "integers", "0 to 1", "true|false", "", "text"};
    text to = {into, room};
    into[0] = '\0';
    for (const ll_word* word = ll_vocabulary; word->name != NULL; ++word) {
        ll_line line = {.size = 0};
        part(&line, "layer", ll_layer_name(word->layers & -word->layers));
        part(&line, "name", word->name);
        part(&line, "takes", word->kind == LL_CHOICE ? word->choices : kinds[word->kind]);
        part(&line, "meaning", word->meaning);
        add(&to, &line);
    }
}
