// Every benchmark, by discovery, on the mock backend: what each must keep to; and the arithmetic of some,
// exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "harness/run.hpp"
#include "playing.hpp"

namespace leadline {
namespace {

// The point of every sweep's first value, and those where one sweep has its last value or any other word that
// it allows instead.
std::vector<Point> corners(const Declaration& benchmark, int ranks) {
    Point first;
    for (const auto& sweep : benchmark.sweeps)
        first[sweep.name] = sweep.values({.ranks = ranks, .per_node = ranks}).at(0);
    std::vector<Point> all{first};
    for (const auto& sweep : benchmark.sweeps) {
        all.push_back(first);
        all.back()[sweep.name] = sweep.values({.ranks = ranks, .per_node = ranks}).back();
        for (const auto& word : sweep.allowed ? sweep.allowed() : std::vector<std::string>{}) {
            all.push_back(first);
            all.back()[sweep.name] = word;
        }
    }
    return all;
}

class EveryBenchmark : public testing::TestWithParam<std::string> {
protected:
    const Declaration& benchmark = *find(GetParam());
};

TEST_P(EveryBenchmark, AsksAQuestion) {
    EXPECT_TRUE(benchmark.question.ends_with("?")) << benchmark.question;
}

TEST_P(EveryBenchmark, NamesEachSweepAndMetricOnce) {
    std::set<std::string> names;
    for (const auto& sweep : benchmark.sweeps) EXPECT_TRUE(names.insert(sweep.name).second) << sweep.name;
    std::set<std::string> metrics;
    for (const auto& metric : benchmark.metrics)
        EXPECT_TRUE(metrics.insert(metric.name).second) << metric.name;
}

TEST_P(EveryBenchmark, SaysWhatItsSweepsAndMetricsMean) {
    for (const auto& sweep : benchmark.sweeps) EXPECT_FALSE(sweep.help.empty()) << sweep.name;
    for (const auto& metric : benchmark.metrics) EXPECT_FALSE(metric.description.empty()) << metric.name;
}

// Seen from any rank it comes to its end; what is measured is finite, and each metric is given by some rank.
TEST_P(EveryBenchmark, MeasuresEachOfItsMetrics) {
    const int ranks = std::max(benchmark.ranks.least, 2);
    std::set<std::string> given;
    for (int rank = 0; rank < ranks; ++rank)
        for (const auto& point : corners(benchmark, ranks)) {
            const auto played =
                play(benchmark, point, {.rank = rank, .size = ranks, .fixed = 1e-6, .per_byte = 1e-10});
            for (const auto& [metric, samples] : played.samples)
                for (const double value : samples) {
                    EXPECT_TRUE(std::isfinite(value)) << metric;
                    given.insert(metric);
                }
        }
    for (const auto& metric : benchmark.metrics) EXPECT_TRUE(given.contains(metric.name)) << metric.name;
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const auto& each : registry()) names.push_back(each.name);
    return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryBenchmark, testing::ValuesIn(all_names()),
                         [](const auto& info) { return info.param; });

// Every operation costs 2 us and 1 ns a byte: one way is send + receive, halved over the two directions.
TEST(Arithmetic, PingpongIsHalfARoundTrip) {
    const auto played =
        play(*find("pingpong"), {{"bytes", std::int64_t{1000}}, {"buffers", std::string("reused")}},
             {.fixed = 2e-6, .per_byte = 1e-9});
    ASSERT_FALSE(played.samples.at("latency").empty());
    for (const double latency : played.samples.at("latency")) EXPECT_NEAR(latency, 3e-6, 1e-15);
}

// 64 messages of 1 KiB at 1 us each and an answer of 1 us: 64 KiB in 65 us.
TEST(Arithmetic, BandwidthCountsTheAnswer) {
    const auto played = play(*find("bandwidth"),
                             {{"bytes", std::int64_t{1024}}, {"window", std::int64_t{64}}}, {.fixed = 1e-6});
    for (const double bandwidth : played.samples.at("bandwidth")) EXPECT_NEAR(bandwidth, 65536 / 65e-6, 1);
    for (const double rate : played.samples.at("message_rate")) EXPECT_NEAR(rate, 64 / 65e-6, 1e-3);
}

// A send costs 3 us and the delays are exact, so the overhead found is those 3 us: the round trip, the first
// message and the delays must all have been taken out.
TEST(Arithmetic, OverheadIsTheCostOfASend) {
    const auto played = play(*find("overhead"), {{"bytes", std::int64_t{8}}}, {.fixed = 3e-6});
    ASSERT_FALSE(played.samples.at("send_overhead").empty());
    for (const double overhead : played.samples.at("send_overhead")) EXPECT_NEAR(overhead, 3e-6, 1e-12);
}

// 1 MB in messages of 1,000 B is 1,000 messages of 1 us; a train of 256 and its answer stands for them.
TEST(Arithmetic, ProtocolScalesToAMegabyte) {
    const auto played = play(*find("protocol"), {{"bytes", std::int64_t{1000}}}, {.fixed = 1e-6});
    for (const double time : played.samples.at("time")) EXPECT_NEAR(time, 1000 * 257e-6 / 256, 1e-12);
}

// Half a round trip between two ranks, whole messages with itself; several pairs at once cost as much as one.
TEST(Arithmetic, RankPairsAreHalfRoundTripsOfTheirOwnPair) {
    const Script cost{.size = 4, .fixed = 2e-6, .per_byte = 1e-9};
    const auto latency = [&](const char* pair) {
        const auto played =
            play(*find("rankpairs"), {{"bytes", std::int64_t{1000}}, {"pair", std::string(pair)}}, cost);
        return played.samples.at("latency").front();
    };
    EXPECT_NEAR(latency("0-1"), 3e-6, 1e-15);
    EXPECT_NEAR(latency("0-1+2-3"), 3e-6, 1e-15);
}

// A machine that does the same work in the same time every time loses nothing.
TEST(Arithmetic, AQuietMachineHasNoNoise) {
    const auto played = play(*find("noise"), {{"steps", std::int64_t{50'000}}}, {});
    ASSERT_FALSE(played.samples.at("lost").empty());
    for (const double lost : played.samples.at("lost")) EXPECT_NEAR(lost, 0, 1e-9);
    for (const double longest : played.samples.at("longest")) EXPECT_NEAR(longest, 0, 1e-12);
}

TEST(Fold, TakesOnlyRanksThatGaveAValue) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_DOUBLE_EQ(fold(Over::mean, {none, 2, 4}), 3);
    EXPECT_DOUBLE_EQ(fold(Over::largest, {none, 2, 4}), 4);
    EXPECT_DOUBLE_EQ(fold(Over::smallest, {none, 2, 4}), 2);
    EXPECT_DOUBLE_EQ(fold(Over::sum, {none, 2, 4}), 6);
    EXPECT_DOUBLE_EQ(fold(Over::root, {1, 2, 4}), 1);
    EXPECT_TRUE(std::isnan(fold(Over::mean, {none, none})));
}

TEST(Sweeps, PowersGoFromNothingToOne) {
    EXPECT_EQ(powers(0, 8), (std::vector<std::int64_t>{0, 1, 2, 4, 8}));
    EXPECT_EQ(powers(3, 13), (std::vector<std::int64_t>{3, 6, 12}));
}

// Rotation visits every buffer once before one comes round again, else "out of cache" would be a lie.
TEST(Buffers, RotationVisitsEveryBuffer) {
    std::vector<std::byte> memory(std::size_t{128} * 1024);
    const Buffers buffers(memory.data(), 8, 128, 1024);
    std::set<std::byte*> seen;
    for (std::size_t i = 0; i < buffers.count(); ++i) seen.insert(buffers[i].data());
    EXPECT_EQ(seen.size(), buffers.count());
}

}  // namespace
}  // namespace leadline
