// Collectives are messages like others: they meet whatever else is on the network, and nothing waits for them
// that need not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "machine/network.hpp"
#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// Two nodes on one link of 1 GB/s each way, with several ranks each.
json two_nodes(int per_node, const std::string& tier) {
    json described = round_machine();
    described["node"] = {{"cores", per_node}, {"ranks", per_node}};
    return {{"machine", described},
            {"topology", {{"kind", "mesh"}, {"shape", {2}}}},
            {"ranks", 2 * per_node},
            {"network", tier},
            {"mapping", "TX"}};
}

// Half of what every rank has goes over the one link, each way.
TEST(Persistent, AnAlltoallBetweenTwoNodesKeepsToTheirLink) {
    constexpr std::size_t block = 100'000;
    for (const auto& tier : tiers())
        for (const int per_node : {2, 4, 16}) {
            const auto ranks = 2 * static_cast<std::size_t>(per_node);
            const Ends all = ends(two_nodes(per_node, tier), [&](Comm& world, Control&) -> Task<> {
                std::vector<std::byte> data(block * ranks);
                co_await world.collective(
                    {.what = Collective::alltoall, .out = data, .in = data, .algorithm = "pairwise"});
            });
            const double least = static_cast<double>(block) * per_node * per_node / 1e9;
            EXPECT_GT(*std::ranges::max_element(all), least) << tier << ", " << per_node << " a node";
            EXPECT_LT(*std::ranges::max_element(all), 2 * least + 1e-3) << tier << ", " << per_node;
        }
}

// Row A does an allreduce and sends a message on; row B keeps itself busy for a second meanwhile.
struct Rows {
    double arrived = 0;  // of row A's next message
    double seen = 0;     // by who asks for it again and again
    int asked = 0;
};
Rows rows(const json& simulate) {
    Rows found;
    play(simulate, [&](Comm world, Control control) -> Task<> {
        found.asked = 0;
        const int half = world.size() / 2;
        Comm row = co_await world.split(world.rank() / half, 0);
        std::vector<std::byte> data(8);
        if (world.rank() < half) {
            co_await row.allreduce(data, data, Type::float64, Reduce::sum);
            if (row.rank() == 0) {
                co_await row.send(data, 1);
            } else if (row.rank() == 1) {
                Comm::Request request = row.irecv(data, 0);
                while (!co_await row.test(request)) ++found.asked;
                found.arrived = control.now();
            }
        } else {
            while (control.now() < 1) {
                if (row.rank() == 0) {
                    co_await row.send(data, 1);
                    co_await row.recv(data, 1);
                } else if (row.rank() == 1) {
                    co_await row.recv(data, 0);
                    co_await row.send(data, 0);
                } else {
                    co_return;
                }
                co_await control.busy(1e-3);
            }
            co_await row.allreduce(data, data, Type::float64, Reduce::sum);
        }
    });
    return found;
}

TEST(Persistent, ACollectiveOfAPartWaitsForNobodyElse) {
    auto networks = tiers();
    networks.emplace_back("auto");
    for (const auto& tier : networks)
        for (const int per_node : {1, 2}) {
            json described = round_machine();
            if (per_node > 1) described = two_ranks(described);
            json simulate{{"machine", described},
                          {"topology", {{"kind", "torus"}, {"shape", {2, 4 / per_node}}}},
                          {"ranks", 4},
                          {"network", tier},
                          {"mapping", "TYX"}};
            const Rows found = rows(simulate);
            EXPECT_LT(found.arrived, 30e-6) << tier << ", " << per_node << " a node";
            EXPECT_GT(found.arrived, 6e-6);
            EXPECT_LT(found.asked, 300);
        }
}

// Whoever has what a broadcast brings goes on, also where another has not come yet.
TEST(Persistent, ABroadcastWaitsForNobodyWhoIsLate) {
    for (const bool tree : {false, true}) {
        json described = round_machine();
        if (tree) described["collective_network"] = {{"rate", 1e9}, {"latency", 2e-6}};
        const Ends all = ends(on(8, described), [](Comm& world, Control& control) -> Task<> {
            std::vector<std::byte> data(8);
            if (world.rank() == 7) co_await control.busy(1);
            co_await world.bcast(data, 0);
            if (world.rank() == 0) co_await world.send(data, 1);
            if (world.rank() == 1) co_await world.recv(data, 0);
        });
        EXPECT_LT(all[1], 50e-6) << tree;
        EXPECT_GE(all[7], 1);
    }
}

// A tree of fewer nodes is less deep.
TEST(Persistent, TheTreeOfAllNodesCostsItsDepth) {
    json described = round_machine();
    described["collective_network"] = {{"rate", 1e9}, {"latency", 2.6e-6}, {"nodes", 65536}};
    const auto lasts = [&](int nodes) {
        return ends(on(nodes, described), [](Comm& world, Control&) -> Task<> {
            std::vector<std::byte> data(8);
            co_await world.allreduce(data, data, Type::int64, Reduce::sum);
        })[0];
    };
    EXPECT_NEAR(lasts(64), 2.6e-6 * 6 / 16 + 8e-9, 1e-12);
    EXPECT_NEAR(lasts(1024) - lasts(64), 2.6e-6 * 4 / 16, 1e-12);
}

// ---------------------------------------------------------------------------------------- at once

// When each rank ends, after rounds of a collective between which ranks compute, each for another time.
Ends repeated(json simulate, const std::string& operation, const std::string& algorithm, std::size_t bytes,
              bool messages, double skew) {
    simulate["collectives"] = messages ? "messages" : "auto";
    return ends(simulate, [=](Comm& world, Control& control) -> Task<> {
        std::vector<std::byte> data(bytes * static_cast<std::size_t>(world.size()));
        const Bytes block = Bytes(data).first(bytes);
        const bool blocks = operation == "allgather" || operation == "gather";
        Call call{.out = block, .in = data};
        if (operation == "barrier") call = {.what = Collective::barrier};
        if (operation == "bcast") call = {.what = Collective::bcast, .in = block};
        if (operation == "reduce") call.what = Collective::reduce;
        if (operation == "allreduce") call.what = Collective::allreduce;
        if (operation == "scan") call.what = Collective::scan;
        if (blocks) call.what = operation == "gather" ? Collective::gather : Collective::allgather;
        if (operation == "scatter") call = {.what = Collective::scatter, .out = data, .in = block};
        if (operation == "alltoall") call = {.what = Collective::alltoall, .out = data, .in = data};
        if (operation == "reduce_scatter")
            call = {.what = Collective::reduce_scatter, .out = data, .in = block};
        call.algorithm = algorithm;
        for (int round = 0; round < 3; ++round) {
            co_await control.busy(skew * ((world.rank() * 7 + round) % 5));
            co_await world.collective(call);
        }
    });
}

// Whatever is computed at once is, for every rank, what its messages give.
TEST(AtOnce, EveryAlgorithmGivesWhatItsMessagesGive) {
    for (const auto& algorithm : collectives::algorithms())
        for (const int ranks : {7, 16})
            for (const std::size_t bytes : {8U, 1U << 17U})
                for (const double skew : {0.0, 2e-7, 1e-5}) {
                    const json simulate = on(ranks);
                    EXPECT_EQ(repeated(simulate, algorithm.operation, algorithm.name, bytes, false, skew),
                              repeated(simulate, algorithm.operation, algorithm.name, bytes, true, skew))
                        << algorithm.operation << ' ' << algorithm.name << " of " << ranks << ", " << bytes
                        << " B, " << skew;
                }
}

// Ranks that come at one moment: cores that copy their own block, that hand over packets for longer than a
// message is under way, engines and ports that are in use for longer than cores are.
TEST(AtOnce, RanksThatComeTogetherLeaveAsTheirMessagesLetThem) {
    json copies = round_machine();
    copies["node"]["memory"] = 1e9;
    json packets = round_machine();
    packets["packets"] = {{"payload", 64}};
    packets["protocol"][0]["send_packet"] = 4e-6;
    json gap = round_machine();
    gap["node"]["message_gap"] = 2e-5;
    for (const json& described : {copies, packets, gap})
        for (const auto& algorithm : collectives::algorithms())
            for (const std::size_t bytes : {8U, 300U}) {
                const json simulate = on(16, described);
                EXPECT_EQ(repeated(simulate, algorithm.operation, algorithm.name, bytes, false, 0),
                          repeated(simulate, algorithm.operation, algorithm.name, bytes, true, 0))
                    << algorithm.operation << ' ' << algorithm.name << ", " << bytes << " B, " << described;
            }
}

// A handshake costs its request and grant also where the sender does not wait for the message to leave.
TEST(AtOnce, AHandshakeIsAskedForWhetherOrNotTheSenderWaits) {
    for (const bool waits : {true, false})
        for (const std::string network : {"loggp", "auto"}) {
            json described = round_machine();
            described["protocol"][0].update(
                {{"handshake", true}, {"handshake_overhead", 5e-7}, {"waits", waits}});
            json simulate = on(12, described, {12});
            simulate["network"] = network;
            const Ends once = repeated(simulate, "alltoall", "pairwise", 8, false, 2e-8);
            const Ends messages = repeated(simulate, "alltoall", "pairwise", 8, true, 2e-8);
            for (std::size_t r = 0; r < once.size(); ++r)
                EXPECT_EQ(once[r], messages[r]) << network << ' ' << waits;
        }
}

// Under `auto` also where it is known without a route that no message meets another: 8 B are over a link
// within a hop, 200 B are not, nor are ranks that start too far apart; by one coordinate at a time, on even
// rings with ties either way, on odd ones and on lines, and round by round after what was computed at once
// before.
TEST(AtOnce, WhatIsKnownToMeetNobodyGivesWhatItsMessagesGive) {
    for (const std::string kind : {"torus", "mesh"})
        for (const std::string ties : {"parity", "growing"})
            for (const std::vector<int>& shape :
                 {std::vector{16}, std::vector{7}, std::vector{4, 8}, std::vector{2, 3, 4}})
                for (const std::string algorithm : {"recursive-doubling", "dissemination", "pairwise"})
                    for (const std::size_t bytes : {8U, 200U})
                        for (const double skew : {0.0, 2e-8, 1e-6}) {
                            int ranks = 1;
                            for (const int length : shape) ranks *= length;
                            json simulate = on(ranks, round_machine(), shape);
                            simulate["topology"]["kind"] = kind;
                            if (kind == "torus") simulate["topology"]["ties"] = ties;
                            simulate["network"] = "auto";
                            const std::string operation = algorithm == "recursive-doubling" ? "allreduce"
                                                          : algorithm == "dissemination"    ? "barrier"
                                                                                            : "alltoall";
                            const Ends once = repeated(simulate, operation, algorithm, bytes, false, skew);
                            const Ends messages = repeated(simulate, operation, algorithm, bytes, true, skew);
                            // Ranks that are apart by nearly a hop bring a later stage to wait for less than
                            // `auto` looks at, which packets tell of.
                            const double told = skew == 2e-8 ? machine::negligible : 0;
                            for (std::size_t r = 0; r < once.size(); ++r)
                                EXPECT_NEAR(once[r], messages[r], told * messages[r])
                                    << simulate << ' ' << algorithm << ' ' << bytes << ' ' << skew;
                        }
}

// Ranks that begin at one moment and deal with the one whose number differs by a bit are told of by one of
// them, if it is as far from each to its own: so where nodes are numbered as ranks are, bit by bit, in any
// order of the axes. Where placements are drawn, or neighbours in number are neighbours on a line (a Gray
// code, of which one bit of the rank is several of the node), the distances are many.
TEST(AtOnce, WhatIsAsFarForAllGivesWhatItsMessagesGive) {
    const std::vector<int> shape{4, 8, 2};
    const std::string gray = testing::TempDir() + "leadline-gray-code";
    std::ofstream file(gray);
    for (unsigned rank = 0; rank < 64; ++rank) {
        const unsigned node = rank ^ rank >> 1U;
        file << node / 16 << ' ' << node / 2 % 8 << ' ' << node % 2 << " 0\n";
    }
    file.close();
    for (const std::string kind : {"torus", "mesh"})
        for (const std::string& mapping :
             {std::string("XYZT"), std::string("ZXYT"), std::string("tiled:2x4x1"), std::string("random:5"),
              "file:" + gray})
            for (const std::string network : {"loggp", "auto"})
                for (const std::size_t bytes : {8U, 5000U}) {
                    json simulate = on(64, round_machine(), shape);
                    simulate["topology"]["kind"] = kind;
                    simulate["mapping"] = mapping;
                    simulate["network"] = network;
                    EXPECT_EQ(repeated(simulate, "allreduce", "recursive-doubling", bytes, false, 0),
                              repeated(simulate, "allreduce", "recursive-doubling", bytes, true, 0))
                        << simulate << ' ' << bytes;
                }
}

// And it is taken: messages of one instant over the same links would have the books of contention see some
// meet.
TEST(AtOnce, WhatIsKnownToMeetNobodyIsNotPlayed) {
    const auto network = [](const json& simulate) {
        const json point{{"bytes", 8}, {"algorithm", "recursive-doubling"}};
        for (const auto& line : ask(json::array({question("allreduce", point)}), simulate))
            if (line.at("event") == "record" && line.at("metric") == "time")
                return line.at("network").get<std::string>();
        return std::string();
    };
    json simulate = on(64, round_machine(), {8, 8});
    simulate["network"] = "auto";
    EXPECT_EQ(network(simulate), "loggp");
    simulate["machine"]["links"]["hop"] = 1e-9;  // within which 8 B at 1 GB/s are not through
    EXPECT_EQ(network(simulate), "packet");
}

// A core whose node's other ranks have nothing for the same node waits for them; not where there are none.
TEST(AtOnce, NobodyWaitsForRanksThatThereAreNot) {
    json waits = two_ranks(round_machine());
    waits["coalesce"] = {{"up_to", 64}, {"wait", 3e-6}};
    const auto longer = [&](int ranks, const std::string& mapping, bool messages) {
        const auto lasts = [&](const json& described) {
            json simulate = on(ranks, described, {2});
            simulate["mapping"] = mapping;
            return repeated(simulate, "barrier", "dissemination", 0, messages, 0)[0];
        };
        return lasts(waits) - lasts(two_ranks(round_machine()));
    };
    for (const bool messages : {false, true}) {
        EXPECT_EQ(longer(2, "XT", messages), 0) << messages;
        // In the first of two stages, of each of three barriers, only one rank of a node has a message for
        // the other.
        EXPECT_GE(longer(4, "TX", messages), 3 * 3e-6) << messages;
    }
}

// Where the machine says nothing of it, messages of one moment for one node travel apart, empty ones too: in
// the second stage both ranks of a node have one for the other, which take its engine one after the other.
TEST(AtOnce, EmptyMessagesTravelApart) {
    const auto lasts = [](double gap, bool messages) {
        json described = two_ranks(round_machine());
        described["node"]["message_gap"] = gap;
        json simulate = on(4, described, {2});
        simulate["mapping"] = "TX";
        return repeated(simulate, "barrier", "dissemination", 0, messages, 0);
    };
    EXPECT_EQ(lasts(1e-5, true), lasts(1e-5, false));
    const Ends close = lasts(1e-9, true);
    const Ends apart = lasts(1e-5, true);
    EXPECT_GE(*std::ranges::max_element(apart), *std::ranges::max_element(close) + 3 * 1e-5);
}

class AtOnceBy : public testing::TestWithParam<std::string> {};

TEST_P(AtOnceBy, EveryNetworkGivesWhatItsMessagesGive) {
    json asking = two_ranks(packet_machine());
    asking["reduce"] = 1e9;
    asking["reduce_streams"] = true;
    asking["protocol"] = {{{"name", "eager"}, {"up_to", 1200}, {"send_overhead", 1e-6}},
                          {{"name", "rendezvous"},
                           {"handshake", true},
                           {"handshake_overhead", 3e-7},
                           {"receive_overhead", 2e-6}}};
    json together = two_ranks(round_machine());
    together["coalesce"] = {{"up_to", 64}, {"wait", 3e-6}};
    for (const auto& described : {packet_machine(), two_ranks(round_machine()), asking, together})
        for (const auto& topology : topologies())
            for (const std::string operation : {"allreduce", "barrier", "bcast", "alltoall"})
                for (const std::size_t bytes : {8U, 5000U}) {  // one packet, eager; many, by rendezvous
                    if (operation == "barrier" && bytes > 8) continue;
                    const json simulate = every_placement(described, topology, GetParam());
                    const std::string algorithm = operation == "allreduce" ? "recursive-doubling"
                                                  : operation == "barrier" ? "dissemination"
                                                  : operation == "bcast"   ? "binomial"
                                                                           : "pairwise";
                    EXPECT_EQ(repeated(simulate, operation, algorithm, bytes, false, 2e-7),
                              repeated(simulate, operation, algorithm, bytes, true, 2e-7))
                        << described << ' ' << topology << ' ' << operation << ' ' << bytes;
                }
}
INSTANTIATE_TEST_SUITE_P(, AtOnceBy, testing::ValuesIn(tiers()), [](const auto& tier) { return tier.param; });

}  // namespace
}  // namespace leadline
