// The packet tier: on an idle network the law that all tiers share, on a busy one the router's rules.
#include "tests/machine/packet_play.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <vector>

namespace leadline::machine {
namespace {

// Every node sends `bytes` to every other at once, each beginning with its next neighbour.
std::vector<Timed> all_to_all(int nodes, std::int64_t bytes, bool adaptive) {
    std::vector<Timed> messages;
    for (int step = 1; step < nodes; ++step)
        for (int node = 0; node < nodes; ++node)
            messages.push_back({0, transfer(node, (node + step) % nodes, bytes,
                                            static_cast<std::uint32_t>(messages.size()), adaptive)});
    return messages;
}

Time idle(const Machine& machine, const Topology& topology, const Transfer& of) {
    const double rate = std::min({machine.node.injection, machine.links.rate, machine.node.reception});
    return machine.links.base + topology.hops(of.from, of.to) * machine.links.hop +
           transfer_time(machine.packets.wire(of.bytes), rate);
}

TEST(Packet, a_message_alone_obeys_the_law_to_the_picosecond) {
    // Whichever part is the slowest, for whole and broken last packets, routed by load or not.
    const auto torus = grid("torus", {4, 4, 8});
    Machine slow_injection = machine(), slow_reception = machine(), trains = machine(),
            free_links = machine();
    slow_injection.node.injection = 77e6;
    slow_reception.node.reception = 99.9e6;
    trains.packets = {};
    free_links.links.rate = infinite;
    for (const Machine& of : {machine(), slow_injection, slow_reception, trains, free_links})
        for (const int to : {1, 7, 4, 36, 127, 62})
            for (const std::int64_t bytes :
                 {0, 1, 15, 16, 17, 240, 241, 1000, 4096, 4097, 100'000, 3'333'333})
                for (const bool adaptive : {false, true}) {
                    // Packets in two channels may overtake each other, and behind a short last one the engine
                    // waits for a hop; where links are the slowest part, as they are, nothing queues.
                    if (adaptive && of.links.rate == infinite) continue;
                    const Play run(of, *torus, {{1234, transfer(0, to, bytes, 5, adaptive)}});
                    const Time law = 1234 + idle(of, *torus, transfer(0, to, bytes, 5));
                    EXPECT_EQ(run.ear.came.at(5), law) << to << " " << bytes << " " << adaptive;
                    const Time road = of.links.base + torus->hops(0, to) * of.links.hop;
                    EXPECT_EQ(run.ear.left.at(5), law - road) << to << " " << bytes << " " << adaptive;
                }
}

TEST(Packet, what_is_simulated_is_the_law_and_no_bound_hides_it) {
    // The last tail at the receiving engine, as the watch saw it, without the bound by the law: a packet of
    // 256 B at 256 MB/s lasts exactly 1 us, so nothing is rounded.
    Machine of = machine();
    of.links.rate = 256e6;
    of.node.injection = 512e6;
    of.node.reception = 512e6;
    const auto torus = grid("torus", {8});
    const Play run(of, *torus, {{0, transfer(0, 3, 12'000, 5)}});
    const auto& in = run.ear.passages.at(torus->links() + 3);
    ASSERT_EQ(in.size(), 50U);
    // Head after three hops, one packet a microsecond.
    for (std::size_t each = 0; each < in.size(); ++each)
        EXPECT_EQ(in[each].start, 174'000 + static_cast<Time>(each) * 1'000'000);
}

TEST(Packet, within_a_node_only_the_local_engine_counts) {
    const auto torus = grid("torus", {4});
    const Machine of = machine();
    const Play run(of, *torus, {{0, transfer(2, 2, 2400, 1)}, {0, transfer(2, 2, 2400, 2)}});
    const Time lasts = transfer_time(2560, 3e9);
    EXPECT_EQ(run.ear.left.at(1), lasts);
    EXPECT_EQ(run.ear.came.at(1), lasts + 400'000);
    EXPECT_EQ(run.ear.came.at(2), 2 * lasts + 400'000);
}

TEST(Packet, time_jumps_where_one_more_packet_is_needed) {
    // 240 B of payload a packet: the 241st byte costs a packet of 32 B (16 overhead, 1 payload, granule 32).
    const auto torus = grid("torus", {4});
    const auto time = [&](std::int64_t bytes) {
        return Play(machine(), *torus, {{0, transfer(0, 1, bytes, 1)}}).ear.came.at(1);
    };
    EXPECT_EQ(time(230), time(240));
    EXPECT_NEAR(static_cast<double>(time(241) - time(240)), 32 / 425e6 * 1e12, 1);
    EXPECT_EQ(time(241), time(256));
    EXPECT_LT(time(256), time(257));
    EXPECT_NEAR(static_cast<double>(time(2400) - time(2160)), 256 / 425e6 * 1e12, 1);
}

// Nodes 0 -> 1 -> 2 -> ... on a line; two messages of 500 packets that both pass the link from 1 to 2.
std::vector<Timed> merge() { return {{0, transfer(0, 3, 120'000, 1)}, {0, transfer(1, 3, 120'000, 2)}}; }

TEST(Packet, transit_goes_before_the_nodes_own) {
    const auto line = grid("mesh", {6});
    const Play run(machine(), *line, merge());
    const double packet = 256 / 425e6 * 1e12, alone = 500 * packet;
    // The one in transit hardly notices: one packet of the other has gone before its head came.
    EXPECT_LT(static_cast<double>(run.ear.came.at(1)),
              static_cast<double>(idle(machine(), *line, merge()[0].transfer)) + 2 * packet);
    EXPECT_NEAR(static_cast<double>(run.ear.came.at(2)), 2 * alone + 900'000 + 2 * 58'000, 3 * packet);
}

TEST(Packet, two_equal_flows_on_a_link_end_together_after_twice_the_time) {
    const auto line = grid("mesh", {6});
    Machine fair = machine();
    fair.transit_first = false;
    const double packet = 256 / 425e6 * 1e12, alone = 500 * packet;
    const Play run(fair, *line, merge());
    for (const std::uint32_t token : {1U, 2U})
        EXPECT_NEAR(static_cast<double>(run.ear.came.at(token)), 2 * alone + 900'000 + 2 * 58'000,
                    10 * packet);

    // Two in transit share whatever the priority: (0, 1) comes down the first axis and (1, 0) along the
    // second to (1, 1), from where both go on along the second.
    const auto square = grid("mesh", {2, 4});
    const Play both(machine(), *square, {{0, transfer(1, 7, 120'000, 1)}, {0, transfer(4, 7, 120'000, 2)}});
    for (const std::uint32_t token : {1U, 2U})
        EXPECT_NEAR(static_cast<double>(both.ear.came.at(token)), 2 * alone + 900'000 + 3 * 58'000,
                    10 * packet);
}

TEST(Packet, messages_of_other_links_are_not_held_up) {
    // A long message on one link, a short one on another a little later: the short one needs no more than the
    // engine's packet under way.
    const auto torus = grid("torus", {8});
    const Play run(machine(), *torus, {{0, transfer(0, 1, 240'000, 1)}, {1'000'000, transfer(0, 7, 240, 2)}});
    const Time law = 1'000'000 + idle(machine(), *torus, transfer(0, 7, 240, 2));
    EXPECT_LE(run.ear.came.at(2), law + transfer_time(256, 2.2e9));
}

TEST(Packet, the_engines_bound_what_a_node_sends_and_takes) {
    // Six neighbours at once: six links would carry 2.55 GB/s, the injection engine 2.2, the reception 1.6.
    const auto torus = grid("torus", {4, 4, 4});
    std::vector<Timed> out, in;
    for (const int peer : {1, 3, 4, 12, 16, 48}) {
        out.push_back({0, transfer(0, peer, 240'000, static_cast<std::uint32_t>(peer))});
        in.push_back({0, transfer(peer, 0, 240'000, static_cast<std::uint32_t>(peer))});
    }
    const auto last = [](const Play& run) {
        Time last = 0;
        for (const auto& [token, when] : run.ear.came) last = std::max(last, when);
        return static_cast<double>(last);
    };
    EXPECT_NEAR(last(Play(machine(), *torus, out)), 6 * 256'000 / 2.2e9 * 1e12, 3e6);
    EXPECT_NEAR(last(Play(machine(), *torus, in)), 6 * 256'000 / 1.6e9 * 1e12, 3e6);
}

TEST(Packet, messages_start_no_closer_than_the_gap_at_both_ends) {
    Machine of = machine();
    of.node.message_gap = 2'000'000;
    const auto torus = grid("torus", {4, 4});
    const auto apart = [&](const std::vector<Timed>& messages) {
        const Play run(of, *torus, messages);
        std::vector<Time> starts;
        for (const auto& [port, passages] : run.ear.passages)
            if ((port >= torus->links()) == (messages[0].transfer.to == messages[1].transfer.to))
                for (const auto& passage : passages) starts.push_back(passage.start);
        std::sort(starts.begin(), starts.end());
        return starts.at(1) - starts.at(0);
    };
    // Out of a node by two links, into a node by two links.
    EXPECT_EQ(apart({{0, transfer(0, 1, 8, 1)}, {0, transfer(0, 4, 8, 2)}}), 2'000'000);
    EXPECT_EQ(apart({{0, transfer(1, 0, 8, 1)}, {0, transfer(4, 0, 8, 2)}}), 2'000'000);
}

TEST(Packet, with_infinite_links_only_the_engines_are_left) {
    // Then three messages to one node arrive as `loggp` says: each after the engines are through with those
    // before. 256 B at 256 MB/s is 1 us a packet.
    Machine of = machine();
    of.links.rate = infinite;
    of.node.injection = of.node.reception = 256e6;
    const auto torus = grid("torus", {8});
    const Play same(
        of, *torus,
        {{0, transfer(0, 2, 2400, 1)}, {0, transfer(0, 2, 2400, 2)}, {0, transfer(0, 2, 240, 3)}});
    const Time road = 900'000 + 2 * 58'000;
    EXPECT_EQ(same.ear.came.at(1), 10'000'000 + road);
    EXPECT_EQ(same.ear.came.at(2), 20'000'000 + road);
    EXPECT_EQ(same.ear.came.at(3), 21'000'000 + road);
    EXPECT_EQ(same.ear.left.at(3), 21'000'000);
    // Against the tier itself, one message after the other.
    Ear ear;
    const auto loggp = make_network("loggp", of, *torus, ear, false);
    for (const std::uint32_t token : {1U, 2U, 3U})
        loggp->send(0, transfer(0, 2, token == 3 ? 240 : 2400, token));
    while (loggp->next() != never) loggp->advance();
    EXPECT_EQ(ear.came, same.ear.came);
    EXPECT_EQ(ear.left, same.ear.left);
}

// What must hold of any run: each packet passes its route, no port is above its capacity, no buffer too full.
void check(const Play& run, const Machine& of, const Topology& topology, const std::vector<Timed>& messages) {
    EXPECT_EQ(run.network.under_way(), 0U);
    EXPECT_EQ(run.ear.came.size(), messages.size());
    EXPECT_EQ(run.ear.left.size(), messages.size());
    // What goes on in its ring may hang out of a buffer by less than itself.
    EXPECT_LT(run.ear.fullest, of.buffer + of.packets.largest());
    std::int64_t due = 0, seen = 0;
    for (const auto& [when, each] : messages) {
        due += of.packets.count(each.bytes) * (topology.hops(each.from, each.to) + 1);
        EXPECT_GE(run.ear.came.at(each.token), when + idle(of, topology, each));
    }
    for (const auto& [port, passages] : run.ear.passages) {
        seen += static_cast<std::int64_t>(passages.size());
        for (std::size_t next = 1; next < passages.size(); ++next)
            ASSERT_GE(passages[next].start, passages[next - 1].end) << port;
    }
    EXPECT_EQ(seen, due);
    EXPECT_EQ(run.network.passed(), due);
}

TEST(Packet, a_saturated_ring_drains_and_without_the_bubble_rule_does_not) {
    // Everybody sends half-way round: all buffers of the ring want to go on.
    const auto ring = grid("torus", {8});
    std::vector<Timed> messages;
    for (int node = 0; node < 8; ++node)
        for (std::uint32_t each = 0; each < 4; ++each)
            messages.push_back(
                {0, transfer(node, (node + 3) % 8, 24'000, static_cast<std::uint32_t>(node) * 4 + each)});
    Machine of = machine();
    of.buffer = static_cast<int>(2 * of.packets.largest());
    check(Play(of, *ring, messages), of, *ring, messages);
    of.transit_first = false;
    check(Play(of, *ring, messages), of, *ring, messages);
    const Play stuck(of, *ring, messages, false);
    EXPECT_GT(stuck.network.under_way(), 0U);
}

TEST(Packet, a_ring_drains_whatever_the_lengths_of_its_packets) {
    // Short last packets leave room in pieces, none of which holds a full packet.
    const auto ring = grid("torus", {32});
    Machine of = machine();
    of.transit_first = false;
    for (const int room : {3, 4, 8}) {
        of.buffer = static_cast<int>(room * of.packets.largest());
        std::vector<Timed> messages;
        messages.reserve(static_cast<std::size_t>(40) * 32);
        for (int token = 0; token < 40 * 32; ++token)
            messages.push_back(
                {0, transfer(token % 32, (token + 15) % 32, 736, static_cast<std::uint32_t>(token), true)});
        check(Play(of, *ring, messages), of, *ring, messages);
    }
}

TEST(Packet, a_saturated_torus_drains) {
    const auto torus = grid("torus", {4, 4, 4});
    for (const bool adaptive : {false, true})
        for (const int room : {2, 8}) {
            Machine of = machine();
            of.buffer = static_cast<int>(room * of.packets.largest());
            const auto messages = all_to_all(64, 2'000, adaptive);
            check(Play(of, *torus, messages), of, *torus, messages);
        }
}

TEST(Packet, random_traffic_drains_from_any_grid) {
    std::mt19937_64 random(3);
    for (const Shape& shape : {Shape{2, 2, 2}, Shape{3, 5}, Shape{1, 6, 2}, Shape{7}})
        for (const char* kind : {"torus", "mesh"}) {
            const auto topology = grid(kind, shape);
            const auto nodes = static_cast<std::uint64_t>(topology->nodes());
            std::vector<Timed> messages;
            for (std::uint32_t token = 0; token < 400; ++token) {
                const auto from = static_cast<int>(random() % nodes);
                const auto to =
                    static_cast<int>((static_cast<std::uint64_t>(from) + 1 + random() % (nodes - 1)) % nodes);
                messages.push_back({static_cast<Time>(token) * 100'000,
                                    transfer(from, to, static_cast<std::int64_t>(random() % 20'000), token,
                                             random() % 2 == 0)});
            }
            Machine of = machine();
            of.buffer = static_cast<int>(2 * of.packets.largest());
            of.node.message_gap = 300'000;
            check(Play(of, *topology, messages), of, *topology, messages);
        }
}

TEST(Packet, fat_trees_and_dragonflies_drain) {
    const std::vector<nlohmann::json> kinds = {
        {{"kind", "fat-tree"}, {"arity", {4, 4}}, {"up", {2}}},
        {{"kind", "dragonfly"}, {"groups", 5}, {"routers", 4}, {"nodes", 2}, {"links", 1}}};
    for (const auto& kind : kinds) {
        const auto topology = make_topology(kind);
        for (const bool adaptive : {false, true}) {
            Machine of = machine();
            of.buffer = static_cast<int>(2 * of.packets.largest());
            const auto messages = all_to_all(topology->nodes(), 2'000, adaptive);
            EXPECT_EQ(Play(of, *topology, messages).ear.came.size(), messages.size());
        }
    }
}

TEST(Packet, routing_by_load_uses_all_links_that_lead_nearer) {
    // Off axis by three dimensions: three first links, in equal parts; on the axis one.
    const auto torus = grid("torus", {8, 8, 8});
    const int corner = torus->node_at({3, 3, 3});
    const auto first = [&](int to, bool adaptive) {
        const Play run(machine(), *torus, {{0, transfer(0, to, 72'000, 1, adaptive)}});
        std::vector<std::size_t> counts;
        for (const auto& [port, passages] : run.ear.passages)
            if (!passages.front().transit) counts.push_back(passages.size());
        return counts;
    };
    EXPECT_EQ(first(corner, true), (std::vector<std::size_t>{100, 100, 100}));
    EXPECT_EQ(first(corner, false), (std::vector<std::size_t>{300}));
    EXPECT_EQ(first(torus->node_at({0, 3, 0}), true), (std::vector<std::size_t>{300}));
}

TEST(Packet, routing_by_load_goes_around_a_busy_link) {
    // A stream along the first axis out of node 0; another message off axis finds the second axis free.
    const auto torus = grid("torus", {8, 8});
    const int to = torus->node_at({3, 3});
    const auto time = [&](bool adaptive) {
        const Play run(machine(), *torus,
                       {{0, transfer(0, torus->node_at({3, 0}), 240'000, 1)},
                        {1000, transfer(0, to, 24'000, 2, adaptive)}});
        return run.ear.came.at(2) - 1000;
    };
    const Time law = idle(machine(), *torus, transfer(0, to, 24'000, 2));
    EXPECT_GT(time(false), 5 * law);
    EXPECT_LT(time(true), law + law / 10);
}

TEST(Packet, a_run_repeats_itself_to_the_bit) {
    const auto torus = grid("torus", {4, 4});
    const auto messages = all_to_all(16, 5'000, true);
    EXPECT_EQ(Play(machine(), *torus, messages).ear.came, Play(machine(), *torus, messages).ear.came);
}

}  // namespace
}  // namespace leadline::machine
