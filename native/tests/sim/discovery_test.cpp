// Every benchmark there is runs on a described machine, in every tier, and answers the same twice.
#include <gtest/gtest.h>

#include <cmath>

#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// Two cores a node, packets, a short, an eager and a rendezvous protocol, and another table within a node.
json small_machine() {
    return {{"name", "small"},
            {"reduce", 2e9},
            {"links", {{"rate", 425e6}, {"hop", 1e-7}, {"base", 1e-6}}},
            {"packets", {{"payload", 240}, {"overhead", 16}, {"granule", 32}}},
            {"node",
             {{"cores", 2},
              {"ranks", 2},
              {"injection", 2e9},
              {"reception", 1.5e9},
              {"local_latency", 5e-7},
              {"flops", 1e9},
              {"memory", 5e9}}},
            {"protocol",
             {{{"name", "short"}, {"up_to", 224}, {"send_overhead", 5e-7}, {"receive_overhead", 6e-7}},
              {{"name", "eager"},
               {"up_to", 1200},
               {"send_overhead", 6e-7},
               {"receive_overhead", 8e-7},
               {"adaptive", true}},
              {{"name", "rendezvous"},
               {"send_overhead", 5e-7},
               {"receive_overhead", 6e-7},
               {"handshake", true},
               {"handshake_overhead", 2e-7}}}},
            {"local_protocol",
             {{{"name", "copied"},
               {"send_overhead", 3e-7},
               {"receive_overhead", 4e-7},
               {"send_copy", 1e9},
               {"receive_copy", 1e9}}}}};
}

// What was answered, without what the host took for it.
std::vector<json> answers(const json& points, const json& simulate) {
    std::vector<json> lines;
    for (json line : ask(points, simulate)) {
        line.erase("duration");
        if (line.at("event") != "launch") lines.push_back(line);
    }
    return lines;
}

void every_benchmark(const std::string& tier) {
    for (const auto& benchmark : describe({.ranks = 8, .per_node = 2, .hops = 2})) {
        const json& most = benchmark.at("max_ranks");
        const int ranks = most.is_null() ? 8 : std::min(8, most.get<int>());
        json simulate{{"machine", small_machine()},
                      {"topology", {{"kind", "torus"}, {"shape", {4}}}},
                      {"ranks", ranks},
                      {"network", tier},
                      {"mapping", ranks > 4 ? "TX" : "XT"}};
        const json points = points_of(benchmark);
        const auto lines = answers(points, simulate);
        EXPECT_EQ(answers(points, simulate), lines) << benchmark.at("name");
        std::size_t records = 0;
        std::size_t elsewhere = 0;  // what writes files: on real machines, or by the model of their storage
        for (const auto& line : lines) {
            if (line.at("event") == "skip" && line.at("reason").get<std::string>().starts_with("files are"))
                ++elsewhere;
            if (line.at("event") != "record") continue;
            ++records;
            EXPECT_EQ(line.at("samples").size(), 1U) << line;
            for (const double sample : line.at("samples")) {
                EXPECT_TRUE(std::isfinite(sample)) << line;
                // A machine without noise loses nothing.
                if (benchmark.at("name") == "noise") EXPECT_NEAR(sample, 0, 1e-9) << line;
                // Parts of the time of NAS FT that not every way of handing over has; what is hidden of it
                // may be less than nothing.
                else if (benchmark.at("name") == "ft" && line.at("metric") != "time")
                    EXPECT_TRUE(sample >= 0 || line.at("metric") == "hidden") << line;
                else EXPECT_GT(sample, 0) << line;
            }
        }
        EXPECT_TRUE(records > 0 || elsewhere == points.size()) << benchmark.at("name");
        EXPECT_EQ(lines.back().at("event"), "done");
    }
}

TEST(Discovery, EveryBenchmarkAnswersTwiceTheSameByLogGp) { every_benchmark("loggp"); }
TEST(Discovery, EveryBenchmarkAnswersTwiceTheSameByFlow) { every_benchmark("flow"); }
TEST(Discovery, EveryBenchmarkAnswersTwiceTheSameByPackets) { every_benchmark("packet"); }
TEST(Discovery, EveryBenchmarkAnswersTwiceTheSameByWhatIsEnough) { every_benchmark("auto"); }

}  // namespace
}  // namespace leadline
