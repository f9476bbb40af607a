// Where the tiers must agree: an idle network, long messages, equal flows, symmetric traffic.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "machine/mapping.hpp"
#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// ------------------------------------------------------------------------------------------- idle networks

// The law that all share, to the picosecond: with packets and without, within a node by memory and by the
// engine, one core a node and two, on every kind of topology.
TEST(Tiers, AnIdleNetworkGivesOneAnswer) {
    json by_network = two_ranks(packet_machine());
    by_network["node"]["local_by_network"] = true;
    json asking = packet_machine();
    asking["protocol"] = {
        {{"name", "short"}, {"up_to", 224}, {"send_overhead", 4e-7}, {"send_packet", 1e-7}},
        {{"name", "eager"}, {"up_to", 1200}, {"send_overhead", 1e-6}, {"header", 20}, {"adaptive", true}},
        {{"name", "rendezvous"},
         {"handshake", true},
         {"handshake_overhead", 3e-7},
         {"header", 20},
         {"receive_overhead", 2e-6}}};
    for (const auto& described :
         {round_machine(), packet_machine(), two_ranks(round_machine()), by_network, asking})
        for (const auto& topology : topologies()) {
            const json first = every_placement(described, topology, tiers().front());
            const int ranks = first.at("ranks");
            if (ranks < 2) continue;
            // By load a dragonfly's packets also take detours, which are longer.
            if (described == asking && topology.at("kind") == "dragonfly") continue;
            for (const int peer : std::set{1, ranks - 1})
                for (const std::size_t bytes : {0, 240, 1000, 40'003}) {
                    const Ends expected = ends(first, round_trip(peer, bytes));
                    for (const std::string tier : {"flow", "packet"})
                        EXPECT_EQ(ends(every_placement(described, topology, tier), round_trip(peer, bytes)),
                                  expected)
                            << tier << ' ' << topology << " to " << peer << " with " << bytes << " B";
                }
        }
}

// By the law itself: wire bytes over the slowest of what they pass, and a hop each link.
TEST(Tiers, AnIdleNetworkKeepsTheLaw) {
    const json topology{{"kind", "torus"}, {"shape", {6}}};
    const double wire = 4 * 256 + 64;  // of 1000 B: four full packets, then 40 B and 16 B in steps of 32
    for (const auto& tier : tiers())
        for (int hops = 1; hops <= 3; ++hops)
            EXPECT_NEAR(ends(every_placement(packet_machine(), topology, tier), round_trip(hops, 1000))[0],
                        2 * (1e-6 + 3e-6 + hops * 1e-7 + wire / 380e6 + 2e-6), 2e-12);
}

TEST(Tiers, LatencyGrowsWithHopsAndWithNothingElse) {
    for (const auto& tier : tiers())
        for (const auto& topology : topologies()) {
            const json simulate = every_placement(packet_machine(), topology, tier);
            const int ranks = simulate.at("ranks");
            const auto made = machine::make_topology(topology);
            const auto placements = machine::make_mapping(simulate.at("mapping"), *made, 1, ranks);
            std::map<int, std::set<double>> by_hops;
            for (int rank = 1; rank < ranks; ++rank)
                by_hops[made->hops(placements[0].node, placements[static_cast<std::size_t>(rank)].node)]
                    .insert(ends(simulate, round_trip(rank, 500))[0]);
            double before = 0;
            for (const auto& [hops, times] : by_hops) {
                EXPECT_EQ(times.size(), 1U) << tier << ' ' << topology << ' ' << hops << " hops";
                EXPECT_GT(*times.begin(), before);
                before = *times.begin();
            }
        }
}

// ------------------------------------------------------------------------------------------- bandwidth

// A window of long messages is bound by the slowest thing that it passes, the reception engine, of which
// 240 of 256 B are payload.
TEST(Tiers, LongMessagesFillWhatIsSlowest) {
    for (const auto& topology : topologies()) {
        if (topology.at("kind") == "single") continue;
        for (const auto& tier : tiers()) {
            json simulate = every_placement(packet_machine(), topology, tier);
            simulate["ranks"] = 2;
            EXPECT_NEAR(answer("bandwidth", {{"bytes", 240'000}, {"window", 16}}, simulate, "bandwidth") /
                            (380e6 * 240 / 256),
                        1, 0.005)
                << tier << ' ' << topology;
        }
    }
}

// Pairs of messages at one time, each from one rank to another; when the last receiver was served.
Body at_once(std::vector<std::pair<int, int>> pairs, std::size_t bytes) {
    return [pairs = std::move(pairs), bytes](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(bytes);
        std::vector<Comm::Request> requests;
        for (const auto& [from, to] : pairs) {
            if (to == world.rank()) requests.push_back(world.irecv(data, from));
            if (from == world.rank()) requests.push_back(world.isend(data, to));
        }
        co_await world.wait_all(requests);
    };
}

// Two leaves' messages over the one way up of their switch: both are there after twice the time of one, as
// transit has no priority over transit.
TEST(Tiers, TwoEqualFlowsShareALink) {
    json described = packet_machine();
    described["node"] = {{"cores", 1}, {"ranks", 1}};
    const json tree{{"kind", "fat-tree"}, {"arity", {4, 3}}, {"up", {1}}};
    const double one = 100'000.0 / 240 * 256 / 425e6;
    for (const std::string tier : {"flow", "packet"}) {
        const Ends both = ends(every_placement(described, tree, tier), at_once({{0, 4}, {1, 5}}, 100'000));
        EXPECT_NEAR(both[4], 2 * one + 6.4e-6, 0.01 * one) << tier;
        EXPECT_NEAR(both[5], both[4], 0.01 * one) << tier;
    }
    // Without the rule of transit first the same holds where one of them begins at the shared link.
    described["transit_first"] = false;
    const json line{{"kind", "mesh"}, {"shape", {4}}};
    for (const std::string tier : {"flow", "packet"}) {
        const Ends both = ends(every_placement(described, line, tier), at_once({{0, 3}, {1, 2}}, 100'000));
        EXPECT_NEAR(both[3], 2 * one + 6.3e-6, 0.01 * one) << tier;
        EXPECT_NEAR(both[2], both[3], 0.01 * one) << tier;
    }
}

// With the rule the local message waits until the one in transit has passed.
TEST(Tiers, TransitGoesFirstInBoth) {
    json described = packet_machine();
    described["node"] = {{"cores", 1}, {"ranks", 1}};
    const json line{{"kind", "mesh"}, {"shape", {4}}};
    const double one = 100'000.0 / 240 * 256 / 425e6;
    for (const std::string tier : {"flow", "packet"}) {
        const Ends both = ends(every_placement(described, line, tier), at_once({{0, 3}, {1, 2}}, 100'000));
        EXPECT_NEAR(both[3], one + 6.3e-6, 0.01 * one) << tier;
        EXPECT_NEAR(both[2], 2 * one + 6.1e-6, 0.01 * one) << tier;
    }
}

// ------------------------------------------------------------------------------------------- symmetric
// traffic

double halo(const json& described, const std::string& tier, int bytes) {
    json simulate = on(16, described, {4, 4});
    simulate["network"] = tier;
    return answer("halo", {{"edge", bytes / 8}, {"way", "nonblocking"}}, simulate, "time");
}

// Every rank swaps edges with four neighbours of one hop: no link has two messages.
TEST(Tiers, ASymmetricHaloGivesOneAnswer) {
    json described = round_machine();
    described["packets"] = {{"payload", 240}, {"overhead", 16}, {"granule", 32}};
    for (const int bytes : {8, 1024, 65536}) {
        const double expected = halo(described, "loggp", bytes);
        EXPECT_DOUBLE_EQ(halo(described, "flow", bytes), expected) << bytes;
        EXPECT_DOUBLE_EQ(halo(described, "packet", bytes), expected) << bytes;
        EXPECT_DOUBLE_EQ(halo(described, "auto", bytes), expected) << bytes;
    }
}

// Where the four of a node share engines of twice a link all bytes have passed after that time in the tiers
// that share; in `loggp`, where the last of the four is served last, no more than its own way later.
TEST(Tiers, AHaloThroughSharedEnginesTakesTheirTime) {
    json described = round_machine();
    described["packets"] = {{"payload", 240}, {"overhead", 16}, {"granule", 32}};
    described["node"].update({{"injection", 2e9}, {"reception", 2e9}});
    const double one = 65536.0 / 240 * 256 / 1e9;
    for (const std::string tier : {"flow", "packet"})
        EXPECT_NEAR(halo(described, tier, 65536) / (2 * one), 1, 0.12) << tier;
    EXPECT_GT(halo(described, "loggp", 65536), 2 * one);
    EXPECT_LT(halo(described, "loggp", 65536), 3 * one);
}

}  // namespace
}  // namespace leadline
