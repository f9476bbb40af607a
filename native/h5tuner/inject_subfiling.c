#include "inject_subfiling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SIZE, CONCENTRATORS };
static const char* const words[] = {"subfiling_stripe_size", "subfiling_ioc_per_node"};
static const char* const variables[] = {"H5FD_SUBFILING_STRIPE_SIZE", "H5FD_SUBFILING_IOC_PER_NODE"};
static const char* const lines[] = {"stripe_size=%" SCNd64, "subfile_count=%" SCNd64};

bool ll_wants_subfiling(const ll_settings* settings, const char* file) {
    return ll_wanted(settings, words[SIZE], file, NULL) != NULL ||
           ll_wanted(settings, words[CONCENTRATORS], file, NULL) != NULL;
}

static void begin_one(ll_subfiling* s, const ll_setting* setting, int word) {
    ll_outcome* outcome = &s->outcome[s->count++];
    *outcome = (ll_outcome){.setting = setting, .state = LL_ACCEPTED};
    const char* before = getenv(variables[word]);
    if (before != NULL && !setting->override) {
        outcome->state = LL_KEPT;
        outcome->why = "the environment sets it; say override to replace it";
        return;
    }
    s->before[word] = before != NULL ? strdup(before) : NULL;
    s->ours[word] =
        (before == NULL || s->before[word] != NULL) && setenv(variables[word], setting->value, 1) == 0;
    s->set = s->set || s->ours[word];
    if (!s->ours[word]) outcome->state = LL_REFUSED;
}

void ll_begin_subfiling(ll_subfiling* s, const ll_hdf5* h, const ll_settings* settings,
                        const ll_opening* opening) {
    for (int i = 0; i < LL_SUBFILING_WORDS && opening->creates; ++i) {
        const ll_setting* setting = ll_wanted(settings, words[i], opening->name, NULL);
        if (setting == NULL) continue;
        if (h->H5Pset_fapl_subfiling != NULL) {
            begin_one(s, setting, i);
            continue;
        }
        s->outcome[s->count++] = (ll_outcome){
            .setting = setting, .state = LL_NOT_APPLICABLE, .why = "this HDF5 has no subfiling driver"};
    }
}

void ll_end_subfiling(ll_subfiling* s) {
    for (int i = 0; i < LL_SUBFILING_WORDS; ++i) {
        if (!s->ours[i]) continue;
        if (s->before[i] != NULL) (void)setenv(variables[i], s->before[i], 1);
        else (void)unsetenv(variables[i]);
        free(s->before[i]);
        s->before[i] = NULL;
    }
}

// The driver's own file: FILE.subfile_INODE.config, with a line for each number. False: the file has none.
static bool read_config(const char* file, int64_t found[LL_SUBFILING_WORDS]) {
    char path[4096], line[256];
    struct stat status;
    if (stat(file, &status) != 0 || snprintf(path, sizeof path, "%s.subfile_%ju.config", file,
                                             (uintmax_t)status.st_ino) >= (int)sizeof path)
        return false;
    FILE* config = fopen(path, "re");
    if (config == NULL) return false;
    while (fgets(line, sizeof line, config) != NULL)
        for (int i = 0; i < LL_SUBFILING_WORDS; ++i) (void)sscanf(line, lines[i], &found[i]);
    (void)fclose(config);
    return true;
}

void ll_tell_subfiling(ll_subfiling* s, const ll_opening* opening) {
    int64_t found[LL_SUBFILING_WORDS] = {-1, -1};
    const bool made = s->count > 0 && read_config(opening->name, found);
    for (int i = 0; i < s->count; ++i) {
        ll_outcome* outcome = &s->outcome[i];
        const bool size = strcmp(outcome->setting->name, words[SIZE]) == 0;
        if (outcome->state == LL_ACCEPTED && !made) {
            outcome->state = LL_NOT_APPLICABLE;
            outcome->why = "the program does not open this file by the subfiling driver";
        } else if (outcome->state == LL_ACCEPTED) {
            (void)snprintf(outcome->accepted, sizeof outcome->accepted, "%" PRId64,
                           found[size ? SIZE : CONCENTRATORS]);
            if (found[size ? SIZE : CONCENTRATORS] != outcome->setting->number[0]) {
                outcome->state = LL_CHANGED;
                outcome->why = size ? NULL : "subfiles of all nodes; never more than there are ranks";
            }
        }
        ll_log_outcome(outcome, opening->call, opening->name, NULL);
    }
}
