// When a point is answered: exact, since samples are handed in by the test.
#include "harness/sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/statistics.hpp"

namespace leadline {
namespace {

const Declaration one_metric{.name = "test",
                             .question = "",
                             .body = nullptr,
                             .metrics = {{"time", Unit::second, Better::lower, Over::root, ""}}};

constexpr Limits limits{.tolerance = 0.02, .time = 1, .floor = 1e-3, .least = 12, .most = 50, .warmup = 2};

// Samples of `each` s an operation until the sampler is done; the number taken.
int feed(Sampler& sampler, double each, double jitter = 0) {
    double begin = 0;
    for (int taken = 1;; ++taken) {
        const double time = each * (1 + (taken % 2 ? jitter : -jitter));
        const double elapsed = time * static_cast<double>(sampler.batch());
        begin += elapsed;
        sampler.take(elapsed, {time}, begin);
        if (sampler.done()) return taken;
    }
}

// 1 us an operation and a floor of 1 ms: the batch must hold at least 1,000 operations, and not many times
// that.
TEST(Sampler, GrowsTheBatchToTheFloor) {
    Sampler sampler(one_metric, limits);
    feed(sampler, 1e-6);
    EXPECT_GE(sampler.batch(), 1000);
    EXPECT_LE(sampler.batch(), 4000);
}

// Equal samples have an interval of no width, so the least number of samples after warm-up is enough.
TEST(Sampler, StopsAtTheLeastCountWhenSamplesAgree) {
    Sampler sampler(one_metric, limits);
    const int taken = feed(sampler, 1e-3);
    EXPECT_EQ(sampler.stopped_by(), "tolerance");
    EXPECT_EQ(taken - sampler.warmup(), limits.least);
}

// Samples that differ by 40 % never come within 2 %: the count ends it.
TEST(Sampler, StopsAtTheMostSamplesWhenTheyNeverAgree) {
    Sampler sampler(one_metric, limits);
    const int taken = feed(sampler, 1e-3, 0.2);
    EXPECT_EQ(sampler.stopped_by(), "samples");
    EXPECT_EQ(taken - sampler.warmup(), limits.most);
}

// 0.3 s an operation and 1 s: time ends it, but not before it has a few samples.
TEST(Sampler, TakesAFewSamplesHoweverLongTheyAre) {
    Sampler sampler(one_metric, limits);
    const int taken = feed(sampler, 0.3);
    EXPECT_EQ(sampler.stopped_by(), "time");
    EXPECT_GE(taken - sampler.warmup(), 3);
}

// An operation longer than everything: it still ends, and what it has is kept.
TEST(Sampler, EndsEvenIfOneSampleTakesTooLong) {
    Sampler sampler(one_metric, limits);
    feed(sampler, 10);
    EXPECT_EQ(sampler.stopped_by(), "time");
    EXPECT_GT(sampler.samples().front().size(), static_cast<std::size_t>(sampler.warmup()));
}

// One hold-up of 5 ms in the first sample must not fix the batch at one operation of 1 us.
TEST(Sampler, DoesNotTakeAHoldUpForALongOperation) {
    Sampler sampler(one_metric, limits);
    sampler.take(5e-3, {5e-3}, 5e-3);
    feed(sampler, 1e-6);
    EXPECT_GE(sampler.batch(), 1000);
}

TEST(Sampler, KeepsASampleToAnOperationWhereTheBenchmarkWantsThat) {
    Declaration single = one_metric;
    single.sampling.one_operation = true;
    Sampler sampler(single, limits);
    feed(sampler, 1e-6);
    EXPECT_EQ(sampler.batch(), 1);
}

// Of equal samples one is enough: of one operation, or of as many as last long enough where they overlap.
TEST(Sampler, OverlappingOperationsFillAnExactSample) {
    Limits exact = limits;
    exact.exact = true;
    Sampler alone(one_metric, exact);
    EXPECT_EQ(feed(alone, 1e-6), 1);

    Declaration overlapping = one_metric;
    overlapping.sampling.overlapping = true;
    Sampler many(overlapping, exact);
    feed(many, 1e-6);
    EXPECT_EQ(many.stopped_by(), "exact");
    EXPECT_GE(many.batch(), 1000);
    EXPECT_EQ(many.samples().front().size(), 1);
    Sampler enough(overlapping, exact);
    EXPECT_EQ(feed(enough, 1e-3), 1);
}

TEST(Sampler, UsesTheWholeTimeWhereTheBenchmarkWantsThat) {
    Declaration patient = one_metric;
    patient.sampling.whole_time = true;
    Sampler sampler(patient, limits);
    feed(sampler, 1e-3);
    EXPECT_EQ(sampler.stopped_by(), "time");
}

// No sample is thrown away: what was taken is what is kept, warm-up included.
TEST(Sampler, KeepsEverySample) {
    Sampler sampler(one_metric, limits);
    const int taken = feed(sampler, 1e-6);
    EXPECT_EQ(sampler.samples().front().size(), static_cast<std::size_t>(taken));
}

// Ten values: B(10, 1/2) leaves 2 x 11/1024 = 2.1 % outside the second and the ninth.
TEST(Median, IntervalOfTenIsSecondToNinth) {
    const auto found = median({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
    EXPECT_DOUBLE_EQ(found.value, 5.5);
    EXPECT_DOUBLE_EQ(found.low, 2);
    EXPECT_DOUBLE_EQ(found.high, 9);
}

// With five values even the extremes miss the median in 2 / 2^5 = 6 % of cases: there is no 95 % interval.
TEST(Median, FiveValuesHaveNoInterval) { EXPECT_TRUE(std::isinf(median({1, 2, 3, 4, 5}).high)); }

}  // namespace
}  // namespace leadline
