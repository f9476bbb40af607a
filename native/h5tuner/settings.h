// What a settings file says: settings, each for all files or for those that a pattern names.
#ifndef LEADLINE_H5TUNER_SETTINGS_H
#define LEADLINE_H5TUNER_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Hard limits: a file that asks for more is refused whole, before anything of it is used.
enum {
    LL_FILE_SIZE = 65536,
    LL_SETTINGS = 256,
    LL_DEPTH = 3,
    LL_NAME = 64,
    LL_VALUE = 256,
    LL_PATTERN = 256,
    LL_NUMBERS = 32,  // HDF5's greatest rank
    LL_PROBLEM = 384
};

// Layers are bits: some words are understood in two of them.
enum { LL_HDF5 = 1, LL_MPI_IO = 2, LL_FILE_SYSTEM = 4 };

// NOLINTBEGIN(modernize-use-using): this is C, which tests in C++ read too
typedef enum { LL_INTEGER, LL_INTEGERS, LL_REAL, LL_YES_NO, LL_CHOICE, LL_TEXT } ll_kind;

// What it can cost to set a word: nothing, another layout of the file, or other results in a wrong program.
typedef enum { LL_HINT, LL_LAYOUT, LL_SEMANTICS } ll_safety;

// A word of the vocabulary. `least` and `most` bound each number; `counts` bounds how many there are, as two
// digits "least, most"; `choices` are parted by bars, and a value may name as many of them as `counts` says.
typedef struct {
    const char* name;
    int layers;
    ll_kind kind;
    ll_safety safety;
    int64_t least, most;
    int counts[2];
    const char* choices;
    const char* meaning;
} ll_word;

typedef struct {
    int layer;
    const ll_word* word;  // null for a hint that only its vendor knows
    char name[LL_NAME];
    char value[LL_VALUE];                        // without spaces round commas
    char file[LL_PATTERN], dataset[LL_PATTERN];  // shell patterns; empty: all
    bool override;
    int line;
    int numbers;
    int64_t number[LL_NUMBERS];  // of integers, yes (1), no (0), and choices by their order
    double real;
} ll_setting;

typedef struct {
    int count;
    uint64_t hash;             // of the text, so that ranks can see that they read the same
    char problem[LL_PROBLEM];  // one sentence, or empty
    ll_setting item[LL_SETTINGS];
} ll_settings;
// NOLINTEND(modernize-use-using)

extern const ll_word ll_vocabulary[];  // ends with a word without a name

const ll_word* ll_find_word(int layer, const char* name);
bool ll_vendor_hint(const char* name);  // begins as the hints of a vendor do, which no table of ours has
const char* ll_layer_name(int layer);   // as in TOML

// Reads the text of either form into `settings`; on false nothing is set and `problem` says why.
bool ll_parse(const char* text, size_t size, ll_settings* settings);
bool ll_load(const char* path, ll_settings* settings);

// For the two readers.
bool ll_parse_xml(const char* text, size_t size, ll_settings* settings);
bool ll_parse_toml(const char* text, size_t size, ll_settings* settings);
bool ll_add(ll_settings* settings, const ll_setting* setting);  // validates `name` and `value`
bool ll_refuse(ll_settings* settings, int line, const char* format, ...)
    __attribute__((format(printf, 3, 4)));

// The setting that holds for a word in a file, and for a dataset of it (null: none): one with a pattern
// before one without, of equals the last. Null where none does.
const ll_setting* ll_wanted(const ll_settings* settings, const char* name, const char* file,
                            const char* dataset);
bool ll_applies(const ll_setting* setting, const char* file, const char* dataset);

#endif
