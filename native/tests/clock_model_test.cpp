// The clock model on clocks that were made up: what was planted must be found, within the error it tells.
#include "comm/clock_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

namespace leadline {
namespace {

constexpr double resolution = 20e-9;

// Two clocks and the ways between them. Time is the reference's.
struct Planted {
    double offset = 0;
    double drift = 0;
    double way = 0.5e-6;     // s, each way
    double jitter = 0;       // mean of what is added to each way
    double outliers = 0;     // share of answers that are held up
    double held_up = 50e-6;  // by so much, on the way back alone
    std::mt19937_64 random{1};

    [[nodiscard]] double local(double time) const { return time - (offset + drift * time) / (1 + drift); }
    // Common time of what the local clock shows.
    [[nodiscard]] double common(double shown) const { return shown + offset + drift * shown; }

    ClockSample ask(double time) {
        std::exponential_distribution<double> noise(1 / std::max(jitter, 1e-12));
        std::uniform_real_distribution<double> chance;
        const double there = time + way + noise(random);
        double back = there + way + noise(random);
        if (chance(random) < outliers) back += held_up;
        const double begin = local(time);
        const double end = local(back);
        return {(begin + end) / 2, there, end - begin};
    }
    // The shortest round trips of so many bursts, evenly over a time.
    std::vector<ClockSample> bursts(int count, double from, double over) {
        std::vector<ClockSample> best;
        for (int i = 0; i < count; ++i) {
            std::vector<ClockSample> burst(10);
            double at = from + over * i / count;
            for (ClockSample& each : burst) {
                each = ask(at);
                at += 3e-6;
            }
            best.push_back(shortest(burst));
        }
        return best;
    }
};

double miss(const ClockModel& model, const Planted& clock, double shown) {
    return std::abs(model.common(shown) - clock.common(shown));
}

TEST(ClockModel, WithoutASampleThereIsNone) {
    EXPECT_THROW((void)ClockModel::fit({}, resolution), std::invalid_argument);
    EXPECT_THROW((void)shortest({}), std::invalid_argument);
}

TEST(ClockModel, TheReferenceIsItsOwnCommonTime) {
    EXPECT_EQ(ClockModel().common(12.5), 12.5);
    EXPECT_EQ(ClockModel().error(12.5), 0);
}

TEST(ClockModel, OneRoundTripGivesAnOffsetAndAssumesTheWorstDrift) {
    Planted clock{.offset = 3.25};
    const std::vector<ClockSample> one{clock.ask(1)};
    const ClockModel model = ClockModel::fit(one, resolution);
    EXPECT_EQ(model.drift(), 0);
    EXPECT_EQ(model.drift_error(), 1e-4);
    EXPECT_NEAR(model.offset(one[0].local), 3.25, model.error(one[0].local));
    EXPECT_GE(model.error(one[0].local), one[0].round_trip / 2);
}

TEST(ClockModel, OffsetAndDriftAreFoundWhereNothingDisturbs) {
    Planted clock{.offset = -712.5, .drift = 37e-6};
    const ClockModel model = ClockModel::fit(clock.bursts(10, 0, 0.1), resolution);
    EXPECT_NEAR(model.drift(), 37e-6, 1e-7);
    EXPECT_LT(miss(model, clock, clock.local(0.1)), 10e-9);
    EXPECT_GE(model.error(clock.local(0.05)), 0.5e-6);  // two ways of which one cannot tell which was longer
    EXPECT_LT(model.error(clock.local(0.05)), 0.7e-6);
}

TEST(ClockModel, NoiseAndLopsidedOutliersHardlyMatter) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        Planted clock{.offset = 2e-3, .drift = -80e-6, .jitter = 0.3e-6, .outliers = 0.3};
        clock.random.seed(seed);
        const ClockModel model = ClockModel::fit(clock.bursts(20, 5, 1), resolution);
        EXPECT_NEAR(model.drift(), -80e-6, 1e-6) << seed;
        for (const double time : {5.0, 5.5, 6.0, 7.0}) {
            const double shown = clock.local(time);
            EXPECT_LT(miss(model, clock, shown), model.error(shown)) << seed << " at " << time;
            EXPECT_LT(model.error(shown), 6e-6) << seed << " at " << time;
        }
    }
}

TEST(ClockModel, EveryAnswerHeldUpIsWithinTheErrorAllTheSame) {
    Planted clock{.offset = 1, .drift = 10e-6, .jitter = 0.1e-6, .outliers = 1};
    const ClockModel model = ClockModel::fit(clock.bursts(10, 0, 1), resolution);
    const double shown = clock.local(0.5);
    EXPECT_GT(miss(model, clock, shown), 20e-6);  // half of what holds them up, always on the same way
    EXPECT_LT(miss(model, clock, shown), model.error(shown));
}

TEST(ClockModel, AWayThatTurnsIsWithinTheError) {
    // Ranks that take turns on a core: first each question waits, then each answer.
    const Planted clock{.offset = 1, .drift = 10e-6};
    std::vector<ClockSample> samples;
    for (int i = 0; i < 10; ++i) {
        const double there = 0.01 * i + (i < 5 ? 16e-6 : 0);
        samples.push_back(
            {(clock.local(0.01 * i) + clock.local(0.01 * i + 16e-6)) / 2, there, 16e-6 * (1 - clock.drift)});
    }
    const ClockModel model = ClockModel::fit(samples, resolution);
    EXPECT_GT(std::abs(model.drift() - 10e-6), 5e-6);  // it cannot know
    for (const double time : {0.0, 0.05, 0.1, 0.5}) {
        const double shown = clock.local(time);
        EXPECT_LT(miss(model, clock, shown), model.error(shown)) << time;
    }
}

TEST(ClockModel, TheErrorGrowsWithTheTimeSinceTheSamples) {
    Planted clock{.drift = 20e-6, .jitter = 0.2e-6};
    const ClockModel model = ClockModel::fit(clock.bursts(10, 0, 0.01), resolution);
    EXPECT_GT(model.error(10), 10 * model.error(0.01));
    EXPECT_LT(miss(model, clock, 10), model.error(10));
}

TEST(ClockModel, ALongerBaseKnowsTheDriftBetter) {
    Planted clock{.drift = 20e-6, .jitter = 0.2e-6};
    const ClockModel brief = ClockModel::fit(clock.bursts(10, 0, 0.01), resolution);
    const ClockModel lasting = ClockModel::fit(clock.bursts(10, 0, 1), resolution);
    EXPECT_LT(lasting.drift_error(), brief.drift_error() / 20);
}

TEST(ClockModel, ModelsAreMergedAlongATree) {
    Planted near{.offset = 4, .drift = 50e-6, .jitter = 0.1e-6};
    Planted far{.offset = -11, .drift = -30e-6, .jitter = 0.1e-6};
    const ClockModel to_near = ClockModel::fit(near.bursts(10, 0, 1), resolution);
    const ClockModel to_far = ClockModel::fit(far.bursts(10, 0, 1), resolution);
    const ClockModel both = to_near.then(to_far);
    for (const double shown : {-4.0, -3.5, 0.0, 5.0}) {
        const double truth = far.common(near.common(shown));
        EXPECT_NEAR(both.common(shown), to_far.common(to_near.common(shown)), 1e-12);
        EXPECT_LT(std::abs(both.common(shown) - truth), both.error(shown)) << shown;
    }
    EXPECT_NEAR(both.drift(), 20e-6, 1e-7);
    EXPECT_GT(both.error(-3.5), to_near.error(-3.5));
    EXPECT_EQ(both.drift_error(), to_near.drift_error() + to_far.drift_error());
}

TEST(ClockModel, DoubtOfAReferenceIsAddedToOnesOwn) {
    Planted clock{.offset = 4};
    const ClockModel own = ClockModel::fit(clock.bursts(10, 0, 1), resolution);
    const ClockModel reference = ClockModel::doubtful(0.5, 1e-6, 1e-9);
    EXPECT_EQ(reference.common(3), 3);
    EXPECT_DOUBLE_EQ(reference.error(2.5), 1e-6 + 2e-9);
    EXPECT_GE(own.then(reference).error(-3.5), own.error(-3.5) + 1e-6);
}

}  // namespace
}  // namespace leadline
