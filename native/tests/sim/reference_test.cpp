// Random programs on the slow simulator that is obviously right and on each tier that must agree with it:
// when each rank ends, to the picosecond, and which message each receive gets.
#include <gtest/gtest.h>

#include "random_programs.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

json protocols(bool asks) {
    const json eager{{"name", "eager"},
                     {"up_to", 3000},
                     {"send_overhead", 1.1e-6},
                     {"receive_overhead", 7e-7},
                     {"send_copy", 5e9},
                     {"receive_copy", 3e9},
                     {"header", 16},
                     {"send_packet", 1.3e-7},
                     {"receive_packet", 9e-8}};
    json large = eager;
    large.update({{"name", "large"}, {"waits", true}});
    if (asks) large.update({{"handshake", true}, {"handshake_overhead", 3e-7}});
    return {eager, large};
}

// Machines whose messages share engines and ports, and nothing else.
std::vector<json> sharing() {
    json plain = round_machine();
    json slow = round_machine();
    slow["node"].update({{"injection", 7e8}, {"reception", 4e8}, {"message_gap", 1.7e-6}});
    slow["protocol"] = protocols(true);
    json memory = two_ranks(slow);
    memory["node"].update({{"cores", 3}, {"ranks", 3}, {"sockets", 2}, {"socket_latency", 3e-7}});
    memory["local_protocol"] = protocols(false);
    json engine = two_ranks(slow);
    engine["node"].update({{"local_by_network", true}, {"put_overhead", 2e-7}});
    json turns = memory;
    turns["protocol"].back()["one_way"] = true;
    json own = engine;
    own["own_protocol"] = protocols(true);
    own["own_protocol"][0]["send_overhead"] = 4e-8;
    json passing = memory;
    for (const auto* table : {"protocol", "local_protocol"}) {
        passing[table].front()["crossing_latency"] = 9e-7;
        passing[table].back()["crossing_latency"] = 2.3e-6;
    }
    json sometimes = own;
    sometimes["protocol"].front()["crossing_latency"] = 1.1e-5;  // overtaken by what comes after it
    json cold = own;
    cold["protocol"] = passing["protocol"];
    cold["cold"] = {
        {{"walked", 5000}, {"time", 3e-7}, {"overhead", 2e-7}, {"copy", 4e9}, {"handshake_overhead", 7e-7}},
        {{"walked", 20000},
         {"time", 1.9e-6},
         {"overhead", 5e-7},
         {"handshake_overhead", 3e-6},
         {"handshake_copy", 1e9}}};
    json chilled = memory;
    chilled["cold"] = cold["cold"];
    return {plain, slow, memory, engine, turns, own, passing, sometimes, cold, chilled};
}

// The same without anything that takes bytes time: no tier knows of anything that is shared.
std::vector<json> unlimited() {
    std::vector<json> all = sharing();
    for (json& each : all) {
        each["links"].erase("rate");
        for (const auto* key : {"injection", "reception", "local", "message_gap"}) each["node"].erase(key);
        each["buffer"] = 255 * 4096;
    }
    return all;
}

json with(const json& described, json topology, const std::string& tier, int ranks) {
    const auto made = machine::make_topology(topology);
    return {{"machine", described},
            {"topology", std::move(topology)},
            {"ranks", ranks},
            {"network", tier},
            {"mapping", "T" + std::string("XYZABC").substr(0, made->axes().size())}};
}

Played referee(const json& job, const Program& program, std::uint64_t ties = 0) {
    const auto machine = machine::parse_machine(job.at("machine"));
    const auto topology = machine::make_topology(job.at("topology"));
    const auto placements =
        machine::make_mapping(job.at("mapping"), *topology, machine.node.ranks, job.at("ranks"));
    return reference(machine, *topology, placements, program, ties);
}

// Random programs in turns over machines and topologies.
template <class Check>
void each_case(const std::vector<json>& machines, int cases, Check check) {
    const json all = topologies();
    for (int i = 0; i < cases; ++i) {
        const json& described = machines[static_cast<std::size_t>(i) % machines.size()];
        const json& topology = all[static_cast<std::size_t>(i / 3) % all.size()];
        const int room = machine::make_topology(topology)->nodes() * described["node"]["ranks"].get<int>();
        const int ranks = std::min(room, 3 + i % 14);
        if (ranks < 2) continue;
        check(described, topology,
              Wanted{.ranks = ranks, .steps = 60 + i % 5 * 100, .seed = 1000U + static_cast<unsigned>(i)});
        if (testing::Test::HasFailure()) FAIL() << "case " << i << " on " << topology << " of " << described;
    }
}

TEST(Reference, LogGpIsWhatItSays) {
    each_case(sharing(), 160, [](const json& described, const json& topology, const Wanted& wanted) {
        const Program program = draw(wanted);
        const json job = with(described, topology, "loggp", wanted.ranks);
        const Played expected = referee(job, program);
        const Played played = simulate(job, program);
        EXPECT_EQ(played.ends, expected.ends);
        EXPECT_EQ(played.got, expected.got);
    });
}

TEST(Reference, WhereNothingIsSharedAllTiersAreOne) {
    each_case(unlimited(), 80, [](const json& described, const json& topology, const Wanted& wanted) {
        const Program program = draw(wanted);
        const Played expected = referee(with(described, topology, "loggp", wanted.ranks), program);
        for (const auto& tier : tiers()) {
            const Played played = simulate(with(described, topology, tier, wanted.ranks), program);
            EXPECT_EQ(played.ends, expected.ends) << tier;
            EXPECT_EQ(played.got, expected.got) << tier;
        }
    });
}

// Short programs, most of whose messages are handed over before the first has arrived: what `auto` says a
// tier says, and it says what `loggp` does only where links, had they been looked at, would have changed next
// to nothing.
TEST(Reference, AutoIsATierAndNotTheOneWithoutLinksWhereTheyCount) {
    json packets = packet_machine();
    json pairs = two_ranks(packets);
    int without = 0, with_links = 0;
    each_case({packets, pairs}, 120, [&](const json& described, const json& topology, Wanted wanted) {
        wanted.steps = 12 + static_cast<int>(wanted.seed % 4) * 12;
        wanted.wildcards = false;
        const Program program = draw(wanted);
        const auto ends = [&](const std::string& tier) {
            return simulate(with(described, topology, tier, wanted.ranks), program).ends;
        };
        const auto said = ends("auto"), alone = ends("loggp"), fluid = ends("flow");
        if (said != alone) {
            ++with_links;
            EXPECT_TRUE(said == fluid || said == ends("packet"));
            return;
        }
        ++without;
        EXPECT_NEAR(static_cast<double>(std::ranges::max(fluid)),
                    static_cast<double>(std::ranges::max(alone)),
                    0.02 * static_cast<double>(std::ranges::max(alone)));
    });
    EXPECT_GT(without, 20);
    EXPECT_GT(with_links, 20);
}

// Programs of which much happens at one instant, without receives from anybody: no order of what happens at
// one instant changes anything, here or there.
TEST(Reference, TheOrderOfOneInstantChangesNothing) {
    json round = round_machine();
    round["protocol"][0] = {{"name", "eager"}, {"send_overhead", 1e-6}, {"receive_overhead", 1e-6}};
    round["links"] = {{"base", 2e-6}, {"hop", 1e-6}};
    round["buffer"] = 255 * 4096;
    json none = round;
    none["protocol"][0] = {{"name", "eager"}};
    json asks = two_ranks(round);
    asks["node"] = {{"cores", 2}, {"ranks", 2}, {"local_latency", 1e-6}};
    asks["protocol"][0].update({{"handshake", true}, {"handshake_overhead", 1e-6}});
    json passing = asks;
    passing["protocol"][0]["crossing_latency"] = 1e-6;
    json cold = asks;
    cold["cold"] = {{{"walked", 40000}, {"time", 1e-6}, {"overhead", 1e-6}, {"handshake_overhead", 2e-6}}};
    const std::vector<json> machines{round, none, asks, passing, cold};
    each_case(machines, 40, [](const json& described, const json& topology, Wanted wanted) {
        wanted.wildcards = false;
        wanted.grain = 1'000'000;
        const Program program = draw(wanted);
        const Played expected = referee(with(described, topology, "loggp", wanted.ranks), program);
        for (std::uint64_t ties = 1; ties < 6; ++ties)
            EXPECT_EQ(referee(with(described, topology, "loggp", wanted.ranks), program, ties), expected);
        for (const auto& tier : tiers())
            EXPECT_EQ(simulate(with(described, topology, tier, wanted.ranks), program), expected) << tier;
    });
}

}  // namespace
}  // namespace leadline
