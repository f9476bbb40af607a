// Whole programs in every tier: links without end, a slower machine, what is sent and in which order it is
// met.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// ------------------------------------------------------------------------------------------- infinite links

json points(const std::string& benchmark, std::vector<json> each) {
    json all = json::array();
    for (auto& point : each) all.push_back(question(benchmark, std::move(point)));
    return all;
}

std::vector<json> samples(const json& points, json simulate, const std::string& tier) {
    simulate["network"] = tier;
    std::vector<json> all;
    for (const auto& line : ask(points, simulate)) {
        if (line.at("event") == "record") all.push_back(line.at("samples"));
        EXPECT_NE(line.at("event"), "skip") << line;
    }
    return all;
}

// Whole programs on links without end, and engines without end: there is nothing to share.
TEST(Tiers, LinksWithoutEndMakeEveryTierLogGp) {
    const json simulate = on(16, wide_open(0), {4, 4});
    for (const auto& [benchmark, each] : std::map<std::string, std::vector<json>>{
             {"hotspot",
              {{{"workers", 15}, {"shape", "flat"}, {"bytes", 4096}},
               {{"workers", 15}, {"shape", "tree"}, {"bytes", 8}}}},
             {"fan",
              {{{"direction", "in"}, {"neighbours", 6}, {"bytes", 4096}, {"window", 4}},
               {{"direction", "both"}, {"neighbours", 3}, {"bytes", 1024}, {"window", 4}}}},
             {"halo", {{{"bytes", 8}}, {{"bytes", 20'000}}}},
             {"ring", {{{"bytes", 1024}, {"way", "at-once"}}}}}) {
        const auto expected = samples(points(benchmark, each), simulate, "loggp");
        EXPECT_GE(expected.size(), each.size());
        for (const std::string tier : {"flow", "packet", "auto"})
            EXPECT_EQ(samples(points(benchmark, each), simulate, tier), expected) << tier << ' ' << benchmark;
    }
}

// With engines that take messages of one packet one after the other: first come, first served in both tiers.
TEST(Tiers, EnginesThatServeInTurnMakePacketsLogGp) {
    const json simulate = on(16, wide_open(1e8), {4, 4});
    for (const auto& [benchmark, each] : std::map<std::string, std::vector<json>>{
             {"hotspot",
              {{{"workers", 15}, {"shape", "flat"}, {"bytes", 200}},
               {{"workers", 9}, {"shape", "flat"}, {"bytes", 8}}}},
             {"fan", {{{"direction", "in"}, {"neighbours", 6}, {"bytes", 240}, {"window", 8}}}},
             {"halo", {{{"bytes", 200}}}}})
        EXPECT_EQ(samples(points(benchmark, each), simulate, "packet"),
                  samples(points(benchmark, each), simulate, "loggp"))
            << benchmark;
}

// ------------------------------------------------------------------------------------------- scaled

// All times four times as long and all rates a quarter: every answer four times as long, in every tier, with
// contention in it.
TEST(Tiers, AMachineFourTimesSlowerTakesFourTimesAsLong) {
    json fast = packet_machine();
    fast["links"]["rate"] = 500e6;
    fast["node"].update({{"injection", 2e9}, {"reception", 1e9}, {"poll", 1e-7}});
    json slow = fast;
    slow["links"] = {{"rate", 125e6}, {"hop", 4e-7}, {"base", 12e-6}};
    slow["node"].update({{"injection", 5e8}, {"reception", 2.5e8}, {"poll", 4e-7}});
    slow["protocol"][0].update({{"send_overhead", 4e-6}, {"receive_overhead", 8e-6}});
    for (const auto& tier : tiers())
        for (const auto& [benchmark, point] : std::vector<std::pair<std::string, json>>{
                 {"halo", {{"bytes", 10'000}}},
                 {"hotspot", {{"workers", 11}, {"shape", "flat"}, {"bytes", 4000}}},
                 {"ring", {{"bytes", 100}, {"way", "at-once"}}}}) {
            const auto asked = json::array({question(benchmark, point)});
            const double quick = samples(asked, on(12, fast, {3, 4}), tier).at(0).at(0);
            const double long_ago = samples(asked, on(12, slow, {3, 4}), tier).at(0).at(0);
            EXPECT_NEAR(long_ago / quick, 4, 1e-5) << tier << ' ' << benchmark;
        }
}

// ------------------------------------------------------------------------------------------- conservation

// Every byte that is sent is received, whoever talks to whom, and nothing is left over: the engine would say
// that somebody waits, and each receive knows its message's first bytes.
TEST(Tiers, WhatIsSentIsReceivedInOrder) {
    constexpr int each = 20;
    json described = two_ranks(packet_machine());
    described["protocol"] = {{{"name", "eager"}, {"up_to", 1200}, {"send_overhead", 1e-7}},
                             {{"name", "rendezvous"}, {"handshake", true}, {"adaptive", true}}};
    for (const auto& topology : topologies())
        for (const auto& tier : tiers()) {
            const json simulate = every_placement(described, topology, tier);
            const int ranks = simulate.at("ranks");
            std::vector<std::vector<int>> to(static_cast<std::size_t>(ranks));
            std::mt19937 draw(7);
            for (auto& mine : to)
                for (int i = 0; i < each; ++i)
                    mine.push_back(static_cast<int>(draw() % static_cast<unsigned>(ranks)));
            int got = 0;
            ends(simulate, [&](Comm& world, Control&) -> Task<> {
                const int me = world.rank();
                std::vector<std::vector<std::byte>> out;
                // Memory for the longest, of which the first bytes tell which one came.
                std::vector<std::vector<std::byte>> in;
                std::vector<Comm::Request> requests;
                std::vector<std::pair<int, int>> expected;
                in.reserve(static_cast<std::size_t>(each) * static_cast<std::size_t>(ranks));
                for (int from = 0; from < ranks; ++from)
                    for (int i = 0; i < each; ++i)
                        if (to[static_cast<std::size_t>(from)][static_cast<std::size_t>(i)] == me) {
                            in.emplace_back(100 * static_cast<std::size_t>(1 + each), std::byte{0xFF});
                            expected.emplace_back(from, i);
                            requests.push_back(world.irecv(in.back(), from));
                        }
                for (int i = 0; i < each; ++i) {
                    // Long and short in turn, so that a short one might overtake.
                    out.emplace_back(i % 2 ? 4 : 100 * static_cast<std::size_t>(1 + i));
                    std::memcpy(out.back().data(), &i, sizeof i);
                    requests.push_back(world.isend(
                        out.back(), to[static_cast<std::size_t>(me)][static_cast<std::size_t>(i)]));
                }
                co_await world.wait_all(requests);
                for (std::size_t i = 0; i < in.size(); ++i) {
                    int which = 0;
                    std::memcpy(&which, in[i].data(), sizeof which);
                    EXPECT_EQ(which, expected[i].second)
                        << tier << ' ' << topology << " from " << expected[i].first;
                    ++got;
                }
            });
            EXPECT_EQ(got, ranks * each) << tier << ' ' << topology;
        }
}

// Messages of one rank to one other meet their receives in the order in which they were sent, even where a
// long one is still under way when a short one sets out over a way whose middle is narrow, or by load.
TEST(Tiers, AShortMessageDoesNotOvertakeALongOne) {
    json described = packet_machine();
    described["node"] = {{"cores", 1}, {"ranks", 1}};
    described["protocol"] = {{{"name", "short"}, {"up_to", 100}}, {{"name", "eager"}, {"adaptive", true}}};
    json narrow{{"kind", "fat-tree"}, {"arity", {4, 3}}, {"up", {2}}, {"width", {1, 0.125}}};
    const json torus{{"kind", "torus"}, {"shape", {4, 4}}};
    for (const auto& topology : {narrow, torus})
        for (const auto& tier : tiers()) {
            std::vector<int> order;
            ends(every_placement(described, topology, tier), [&](Comm& world, Control&) -> Task<> {
                std::vector<std::byte> data(20'000);
                std::array<int, 1> word{};
                const Bytes small = std::as_writable_bytes(std::span(word));
                if (world.rank() == 0) {
                    Comm::Request first = world.isend(data, 10);
                    word[0] = 7;
                    co_await world.send(small, 10);
                    co_await world.wait(first);
                } else if (world.rank() == 10) {
                    for (int i = 0; i < 2; ++i) {
                        co_await world.recv(data, 0);
                        std::memcpy(word.data(), data.data(), sizeof word);
                        order.push_back(word[0]);
                    }
                }
            });
            EXPECT_EQ(order, (std::vector{0, 7})) << tier << ' ' << topology;
        }
}

}  // namespace
}  // namespace leadline
