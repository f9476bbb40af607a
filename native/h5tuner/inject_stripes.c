#include "inject_stripes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "process.h"

static const char* const words[] = {"striping_factor", "striping_unit"};
enum { FACTOR, UNIT, WORDS };

// Of several ranks the first makes the file, and the others find it as it is, or empty: then they ask the
// same.
void ll_stripe(int descriptor, const char* path, int flags) {
    const bool wanted = ll_now.wanted.count != 0 || ll_now.wanted.size != 0;
    if (!wanted || descriptor < 0 || (flags & O_CREAT) == 0 || !ll_opens(path)) return;
    const int error = errno;
    ll_now.met = true;
    ll_write_ceph(descriptor, &ll_now.wanted);
    errno = error;
}

// A factor below 1 is all targets, of which CephFS does not tell how many there are.
void ll_want_stripes(ll_stripes* wanted, const ll_setting* setting) {
    if (setting->number[0] < 1) return;
    if (strcmp(setting->name, words[FACTOR]) == 0) wanted->count = (uint64_t)setting->number[0];
    if (strcmp(setting->name, words[UNIT]) == 0) wanted->size = (uint64_t)setting->number[0];
}

void ll_want_all_stripes(ll_stripes* wanted, const ll_settings* settings, const char* file) {
    for (int i = 0; i < WORDS; ++i) {
        const ll_setting* setting = ll_wanted(settings, words[i], file, NULL);
        if (setting != NULL) ll_want_stripes(wanted, setting);
    }
}

bool ll_judge_stripes(ll_outcome* outcome, const char* file) {
    const ll_setting* setting = outcome->setting;
    const bool factor = strcmp(setting->name, words[FACTOR]) == 0;
    ll_stripes found;
    if ((!factor && strcmp(setting->name, words[UNIT]) != 0) || !ll_read_ceph(file, &found)) return false;
    const uint64_t has = factor ? found.count : found.size;
    (void)snprintf(outcome->accepted, sizeof outcome->accepted, "%" PRIu64, has);
    outcome->state = has == (uint64_t)setting->number[0] ? LL_ACCEPTED : LL_CHANGED;
    outcome->why = NULL;
    if (setting->number[0] < 1)
        outcome->why = "CephFS does not tell how many targets there are; name a number";
    else if (outcome->state == LL_CHANGED)
        outcome->why = "CephFS stripes new files alone, in units of whole multiples of 64 KiB";
    return true;
}

void ll_tell_stripes(const ll_settings* settings, const char* call, const char* file) {
    for (int i = 0; i < WORDS; ++i) {
        ll_outcome outcome = {.setting = ll_wanted(settings, words[i], file, NULL)};
        if (outcome.setting != NULL && ll_judge_stripes(&outcome, file))
            ll_log_outcome(&outcome, call, file, NULL);
    }
}
