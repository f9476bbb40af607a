// The arithmetic of collectives' benchmarks and of those beside them, exactly.
#include <gtest/gtest.h>

#include <limits>

#include "harness/collective.hpp"
#include "harness/overlap.hpp"
#include "playing.hpp"

namespace leadline {
namespace {

Point call(std::int64_t bytes) {
    return {{"communicator", "world"}, {"form", "blocking"}, {"cadence", "back-to-back"},
            {"algorithm", "library"},  {"bytes", bytes},     {"root", std::int64_t{0}},
            {"reduction", "sum"},      {"type", "double"},   {"variation", "none"}};
}

Point with(Point point, const std::string& sweep, const Value& value) {
    point[sweep] = value;
    return point;
}

void expect_all(const std::vector<double>& samples, double value, double within = 1e-12) {
    ASSERT_FALSE(samples.empty());
    for (const double sample : samples) EXPECT_NEAR(sample, value, within);
}

// 2 us a call and 1 ns a byte, of the rank's larger buffer.
TEST(Collective, TimeIsThatOfOneOperation) {
    const Script script{.size = 4, .fixed = 2e-6, .per_byte = 1e-9};
    const auto played = play(*find("allreduce"), call(1000), script);
    expect_all(played.samples.at("time"), 3e-6);
    expect_all(played.samples.at("mean"), 3e-6);
    EXPECT_TRUE(played.samples.at("overlap").empty());
    EXPECT_GT(played.batch, 1);
}

// The root of a gather takes four blocks, another rank gives one.
TEST(Collective, BlocksAreAsManyAsRanks) {
    const Script root{.rank = 0, .size = 4, .per_byte = 1e-9};
    const Script other{.rank = 2, .size = 4, .per_byte = 1e-9};
    expect_all(play(*find("gather"), call(1000), root).samples.at("time"), 4e-6);
    expect_all(play(*find("gather"), call(1000), other).samples.at("time"), 1e-6);
    expect_all(play(*find("alltoall"), call(1000), other).samples.at("time"), 4e-6);
    expect_all(play(*find("reduce_scatter"), call(1000), other).samples.at("time"), 4e-6);
    expect_all(play(*find("alltoall"), with(call(1000), "variation", "equal"), other).samples.at("time"),
               4e-6);
}

// Four neighbours in two dimensions.
TEST(Collective, ANeighbourhoodHasABlockForEachNeighbour) {
    const auto point = with(call(1000), "dimensions", std::int64_t{2});
    const auto played = play(*find("neighbor_alltoall"), point, {.size = 4, .per_byte = 1e-9});
    expect_all(played.samples.at("time"), 4e-6);
}

// From the agreed start: what passed before it does not count, and a sample is one operation.
TEST(Collective, IsolatedTimeBeginsAtTheAgreedStart) {
    const auto played =
        play(*find("bcast"), with(call(1000), "cadence", "isolated"), {.fixed = 2e-6, .per_byte = 1e-9});
    expect_all(played.samples.at("time"), 3e-6);
    EXPECT_EQ(played.batch, 1);
}

// Barriers and memory walked between the calls do not count.
TEST(Collective, TimedCadencesCountOnlyTheCalls) {
    const Script script{.size = 4, .fixed = 2e-6, .per_byte = 1e-9};
    for (const TimedCadence& cadence : timed_cadences) {
        const auto played =
            play(*find("allreduce"), with(call(1000), "cadence", std::string(cadence.name)), script);
        expect_all(played.samples.at("time"), 3e-6);
        expect_all(played.samples.at("mean"), 3e-6);
    }
}

// On the mock nothing goes on by itself: an operation of 3 us, begun in 1 us, takes 4 us, and so long again
// beside a computation of 4 us: together 8 us, and nothing is hidden.
TEST(Collective, WhatGoesOnByNothingHidesNothing) {
    const Script script{.fixed = 2e-6, .per_byte = 1e-9, .posting = 1e-6};
    for (const char* form : {"nonblocking", "persistent"})
        for (const char* cadence : {"back-to-back", "isolated"}) {
            const auto point = with(with(call(1000), "form", form), "cadence", cadence);
            const auto played = play(*find("bcast"), point, script);
            expect_all(played.samples.at("time"), 4e-6);
            expect_all(played.samples.at("overlap"), 0, 1e-3);  // steps of work are whole nanoseconds
        }
}

TEST(Overlap, IsTheShareOfTheShorterOnesTime) {
    EXPECT_DOUBLE_EQ(hidden_share(4, 4, 4), 1);
    EXPECT_DOUBLE_EQ(hidden_share(4, 4, 8), 0);
    EXPECT_DOUBLE_EQ(hidden_share(2, 6, 7), 0.5);
    EXPECT_DOUBLE_EQ(hidden_share(4, 4, 9), -0.25);  // together is dearer than one after the other
}

// The exchange is two transfers of 2 us, a broadcast one; together as long as one after the other.
TEST(Overlap, OfMessagesAndABroadcastThatTakeTurns) {
    const Point point{{"with", "bcast"}, {"communicator", "world"}, {"bytes", std::int64_t{1000}}};
    const auto played = play(*find("overlap"), point, {.fixed = 1e-6, .per_byte = 1e-9});
    expect_all(played.samples.at("time"), 6e-6);
    expect_all(played.samples.at("together"), 1);
    expect_all(played.samples.at("hidden"), 0);
}

// The slowest rank's time and the mean of those that gave one; rank 2 stands by.
TEST(Collective, TimeIsTheSlowestRanksAndMeanThatOfAllThatTakePart) {
    const Declaration& barrier = *find("barrier");
    Arena arena;
    SharedPoint asked(barrier, {}, arena, Limits{});
    Session session(Script{.size = 3});
    leadline::Run run(asked, session.world(), session.control());
    ASSERT_TRUE(run.next_sample().await_resume());
    const double none = std::numeric_limits<double>::quiet_NaN();
    (void)run.decide({5, 2, 2, none, 8, 4, 4, none, 0, none, none, none});
    EXPECT_DOUBLE_EQ(asked.sampler.samples()[0].back(), 4);
    EXPECT_DOUBLE_EQ(asked.sampler.samples()[1].back(), 3);
}

// What disturbs a rank while it gets its buffers says nothing of its samples.
TEST(Run, TellsOfItsFirstSampleOnceAndNotBefore) {
    Arena arena;
    SharedPoint asked(*find("barrier"), {}, arena, Limits{});
    int told = 0;
    asked.first_sample = [&] { ++told; };
    Session session(Script{.size = 2});
    leadline::Run run(asked, session.world(), session.control());
    (void)run.buffers(1000, 4);
    EXPECT_EQ(told, 0);
    ASSERT_TRUE(run.next_sample().await_resume());
    EXPECT_EQ(told, 1);
    ASSERT_TRUE(run.next_sample().await_resume());
    EXPECT_EQ(told, 1);
}

// Eight ranks as 2 x 2 x 2: three around rank 0, to each 1,000 B at 1 us a message and as much for its
// answer.
TEST(Neighbours, BandwidthIsWhatPassesTheNode) {
    Point point{{"operation", "send"}, {"way", "blocking"}, {"bytes", std::int64_t{1000}}};
    const Script script{.size = 8, .fixed = 1e-6};
    expect_all(play(*find("neighbours"), point, script).samples.at("bandwidth"), 3000 / 6e-6, 1);
    point = with(point, "operation", "exchange");
    expect_all(play(*find("neighbours"), point, script).samples.at("bandwidth"), 6000 / 9e-6, 1);
    // All in one call of 1 us.
    point = with(point, "way", "collective");
    expect_all(play(*find("neighbours"), point, script).samples.at("bandwidth"), 6000 / 4e-6, 1);
}

// Two ranks a direction, three directions: six messages each way, all ranks on one node.
TEST(Neighbours, AllAtOnceCountBothWaysOfEveryRankOfANode) {
    const Point point{{"way", "nonblocking"}, {"variation", "equal"}, {"bytes", std::int64_t{1000}}};
    const auto played = play(*find("allneighbours"), point, {.size = 8, .fixed = 1e-6});
    expect_all(played.samples.at("bandwidth"), 8 * 12'000 / 12e-6, 1);
}

// N numbers of 8 B an edge, N x N a face; a message each way to each neighbour.
TEST(Halo, MovesEdgesAndFaces) {
    const Point point{{"way", "nonblocking"}, {"edge", std::int64_t{16}}};
    const Script script{.size = 8, .per_byte = 1e-9};
    expect_all(play(*find("halo"), point, script).samples.at("time"), 8 * 128e-9);
    expect_all(play(*find("halo3d"), point, script).samples.at("time"), 12 * 2048e-9);
    // In one call that moves all that leaves.
    expect_all(play(*find("halo"), with(point, "way", "collective"), script).samples.at("time"), 4 * 128e-9);
}

}  // namespace
}  // namespace leadline
