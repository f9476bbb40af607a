/* Tests and probes that find nothing: how much of the time in them and between them is waiting.
 *
 * A program that polls asks millions of times a second, and a reading of the clock costs as much as the test.
 * The first tests after an operation are read one by one: a gap between two of them of GAP or more was
 * computation, a shorter one was spent on polling. When eight in succession had short gaps, only every third
 * test is read, then every seventh, up to every 63rd (odd, so that loops of two tests are read at both).
 *
 * Of such a batch only its whole time is known. What exceeds the pace of the batch before by GAP or more was
 * computation, and the tests are read one by one again. Otherwise the batch is compared with the quickest of
 * its call site: tests that took more than twice as long on average had work between them, which the program
 * would have done without waiting, too; all of their time is computation, until a batch says otherwise. That
 * holds beyond the next operation, but not beyond one that came before the next long batch.
 *
 * All times are ticks of one clock. Nothing here reads it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LR_CALM = 8, LR_BATCH = 63, LR_LONG = 15, LR_SITES = 16 };

struct lr_polls {
    int64_t waited; /* since the last operation */
    int64_t last;   /* when the last test that was read was left; 0: none since the last operation */
    double pace;    /* of the last tests that were read, from one to the next */
    int unread;     /* tests that are still to come before the next one that is read */
    int skipped;    /* tests that came without reading since the last one read */
    int calm;       /* tests in succession with short gaps */
    int batch;      /* one of how many is read */
    bool works;     /* the last long batch had work between its tests */
    bool judged;    /* there was a long batch since the last operation */
    struct {
        const void* site;
        double pace;
    } quickest[LR_SITES]; /* of long batches, by the call site of the test that was read */
};

/* Whether the next test's begin and end are wanted. */
static inline bool lr_polls_read(const struct lr_polls* polls) { return polls->unread == 0; }

/* A test found nothing, and was not read. */
static inline void lr_polls_skip(struct lr_polls* polls) {
    --polls->unread;
    ++polls->skipped;
}

/* Waiting within `whole` ticks in which `tests` began, most of them unread; their pace is kept. */
static inline int64_t lr_polls_batch(struct lr_polls* polls, const void* site, int64_t whole, int tests,
                                     double gap) {
    const double usual = polls->pace * tests, pace = (double)whole / tests;
    if ((double)whole - usual >= gap) {
        polls->calm = polls->batch = 0;
        return (int64_t)usual;
    }
    polls->pace = pace;
    if (tests < LR_LONG) return whole;
    polls->judged = true;
    const size_t place = ((uintptr_t)site >> 2) % LR_SITES;
    if (polls->quickest[place].site != site || pace < polls->quickest[place].pace) {
        polls->quickest[place].site = site;
        polls->quickest[place].pace = pace;
    }
    polls->works = pace > 2 * polls->quickest[place].pace;
    return whole;
}

/* A test that was read found nothing. */
static inline void lr_polls_fail(struct lr_polls* polls, const void* site, int64_t enter, int64_t leave,
                                 double gap) {
    const int tests = polls->skipped + 1;
    const int64_t whole = leave - polls->last;
    int64_t waited = leave - enter;
    if (polls->last && tests > 1) {
        waited = lr_polls_batch(polls, site, whole, tests, gap);
    } else if (polls->last && (double)(enter - polls->last) < gap) {
        waited = whole;
        polls->pace = (double)whole;
        ++polls->calm;
    } else {
        polls->calm = 0;
    }
    if (!polls->works) polls->waited += waited;
    polls->last = leave;
    polls->skipped = 0;
    if (polls->calm >= LR_CALM) polls->batch = polls->batch >= LR_BATCH ? LR_BATCH : 2 * polls->batch + 1;
    polls->unread = polls->batch > 1 ? polls->batch - 1 : 0;
}

/* What came since the last test that was read, until an operation that was entered at `enter`. */
static inline void lr_polls_follow(struct lr_polls* polls, int64_t enter, double gap) {
    if (!polls->last || polls->works) return;
    const int64_t whole = enter - polls->last;
    const double usual = polls->pace * polls->skipped;
    polls->waited += (double)whole - usual < gap ? whole : (int64_t)usual;
}

/* When a test that found something at `leave` was entered, where that was not read: in the loop of tests
 * before it a long one is one that moved data. */
static inline int64_t lr_polls_entered(const struct lr_polls* polls, int64_t leave) {
    const int64_t begin = polls->last + (int64_t)(polls->pace * polls->skipped);
    return begin < leave ? begin : leave;
}

/* The waiting since the last operation; one is over now. */
static inline int64_t lr_polls_end(struct lr_polls* polls) {
    const int64_t waited = polls->waited;
    polls->waited = polls->last = 0;
    polls->unread = polls->skipped = polls->calm = polls->batch = 0;
    polls->works = polls->works && polls->judged;
    polls->judged = false;
    return waited;
}
