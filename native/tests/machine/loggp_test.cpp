// The cheapest tier by hand: engines and ports that serve one message after the other, and the books of who
// was in the way.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "machine/network.hpp"

namespace leadline::machine {
namespace {

constexpr Time us = 1'000'000;

// 100 B/us a link, 1 us base and 0.1 us a hop.
Machine plain() {
    Machine machine;
    machine.links = {.rate = 100e6, .hop = us / 10, .base = us};
    return machine;
}

struct Sent {
    Time when;
    int from;
    int to;
    std::int64_t bytes;
};

struct Reports final : Listener {
    void injected(std::uint32_t token, Time when) override { EXPECT_TRUE(out.emplace(token, when).second); }
    void arrived(std::uint32_t token, Time when) override { EXPECT_TRUE(in.emplace(token, when).second); }
    std::map<std::uint32_t, Time> out, in;
    double contention = 0;
};

// Sends in time order, with the tokens 0, 1, ...
Reports run(const Machine& machine, const nlohmann::json& topology, const std::vector<Sent>& sends,
            std::string_view tier = "loggp") {
    const auto nodes = make_topology(topology);
    Reports reports;
    const auto network = make_network(tier, machine, *nodes, reports, true);
    std::uint32_t token = 0;
    for (const Sent& each : sends) {
        while (network->next() < each.when) network->advance();
        network->send(each.when, {.from = each.from, .to = each.to, .bytes = each.bytes, .token = token++});
    }
    while (network->next() != never) network->advance();
    EXPECT_EQ(reports.out.size(), sends.size());
    EXPECT_EQ(reports.in.size(), sends.size());
    reports.contention = network->contention();
    return reports;
}

nlohmann::json line(int nodes) { return {{"kind", "mesh"}, {"shape", {nodes}}}; }

// 1000 B over three links: 10 us, then 1 us and three hops.
TEST(LogGpNetwork, ALoneMessageKeepsTheIdleLaw) {
    const Reports reports = run(plain(), line(5), {{777, 1, 4, 1000}});
    EXPECT_EQ(reports.out.at(0), 777 + 10 * us);
    EXPECT_EQ(reports.in.at(0), 777 + 11 * us + 3 * us / 10);
    EXPECT_EQ(reports.contention, 0);
}

// Two messages of one node over one link leave one after the other; over two links at once, unless the engine
// has no more than one link's rate.
TEST(LogGpNetwork, MessagesOfOneNodeLeaveInTurn) {
    Machine machine = plain();
    EXPECT_EQ(run(machine, line(3), {{0, 1, 2, 1000}, {0, 1, 2, 1000}}).out.at(1), 20 * us);
    EXPECT_EQ(run(machine, line(3), {{0, 1, 2, 1000}, {0, 1, 0, 1000}}).out.at(1), 10 * us);
    machine.node.injection = 100e6;
    EXPECT_EQ(run(machine, line(3), {{0, 1, 2, 1000}, {0, 1, 0, 1000}}).out.at(1), 20 * us);
}

// Two messages to one node: its own input link, or its engine where they come over two.
TEST(LogGpNetwork, MessagesToOneNodeArriveInTurn) {
    Machine machine = plain();
    // The nearer one's head is there first, at 1.2 us; the other one's waits until its last byte is in.
    EXPECT_EQ(run(machine, line(4), {{0, 0, 3, 1000}, {0, 1, 3, 1000}}).in.at(0), 21 * us + 2 * us / 10);
    EXPECT_EQ(run(machine, line(3), {{0, 0, 1, 1000}, {0, 2, 1, 1000}}).in.at(1), 11 * us + us / 10);
    machine.node.reception = 100e6;
    EXPECT_EQ(run(machine, line(3), {{0, 0, 1, 1000}, {0, 2, 1, 1000}}).in.at(1), 21 * us + us / 10);
}

// The least time between two messages, out and in, where they are too small to take as long.
TEST(LogGpNetwork, MessagesKeepTheirGap) {
    Machine machine = plain();
    machine.node.message_gap = 5 * us;
    const Reports out = run(machine, line(3), {{0, 1, 0, 100}, {0, 1, 2, 100}, {0, 1, 0, 100}});
    EXPECT_EQ(out.out.at(1), 6 * us);
    EXPECT_EQ(out.out.at(2), 11 * us);
    const Reports in = run(machine, line(3), {{0, 0, 1, 100}, {0, 2, 1, 100}});
    EXPECT_EQ(in.in.at(1) - in.in.at(0), 5 * us);
}

// Within a node the local engine alone serves, one after the other.
TEST(LogGpNetwork, TheLocalEngineServesInTurn) {
    Machine machine = plain();
    machine.node.local = 200e6;
    machine.node.local_latency = 3 * us;
    const Reports reports = run(machine, line(2), {{0, 1, 1, 1000}, {0, 1, 1, 1000}, {0, 1, 0, 1000}});
    EXPECT_EQ(reports.in.at(0), 8 * us);
    EXPECT_EQ(reports.in.at(1), 13 * us);
    EXPECT_EQ(reports.out.at(2), 10 * us);
}

// The books: two that begin at one node, or end at one, are no contention; two that meet in between are.
TEST(LogGpNetwork, ContentionIsWhatMeetsBetweenTheEnds) {
    EXPECT_EQ(run(plain(), line(4), {{0, 0, 3, 1000}, {0, 0, 2, 1000}}).contention, 0);
    EXPECT_EQ(run(plain(), line(4), {{0, 0, 1, 1000}, {0, 2, 3, 1000}}).contention, 0);
    EXPECT_GT(run(plain(), line(4), {{0, 0, 3, 1000}, {0, 1, 2, 1000}}).contention, 0.3);
    EXPECT_EQ(run(plain(), line(4), {{0, 0, 3, 1000}, {50 * us, 1, 2, 1000}}).contention, 0);
}

// 1 B takes a hundredth of a hop, so three messages of one instant from nodes 0, 1 and 3 are a hop and two
// hops apart on the links that they share. They are booked as they are sent: the one in the middle last.
TEST(LogGpNetwork, TimesBetweenBookingsAreFree) {
    Machine machine = plain();
    machine.links.hop = us;
    EXPECT_EQ(run(machine, line(6), {{0, 0, 5, 1}, {0, 3, 5, 1}, {0, 1, 5, 1}}).contention, 0);
    // With 300 B, 3 us, each of the first two is met by the next.
    EXPECT_GT(run(machine, line(6), {{0, 0, 5, 300}, {0, 3, 5, 300}, {0, 1, 5, 300}}).contention, 0.1);
}

// More messages to one node than bookings are told apart: all wait at its port, none in between.
TEST(LogGpNetwork, ManyMessagesToOneNodeAreNoContention) {
    std::vector<Sent> sends;
    for (int from = 1; from < 200; ++from) sends.push_back({0, from, 0, 1000});
    EXPECT_EQ(run(plain(), {{"kind", "fat-tree"}, {"arity", {200}}}, sends).contention, 0);
}

// A message of bytes or none between all pairs at random times: each is told of once at each end, never
// before an idle network could, and no reception engine takes more bytes than its rate gives.
TEST(LogGpNetwork, EveryTierTellsOfEveryMessageOnce) {
    Machine machine = plain();
    machine.packets = {.payload = 240, .overhead = 16, .granule = 32};
    machine.node.reception = 150e6;
    const nlohmann::json torus{{"kind", "torus"}, {"shape", {4, 3}}};
    const auto nodes = make_topology(torus);
    std::mt19937 draw(5);
    std::vector<Sent> sends;
    sends.reserve(500);
    for (int i = 0; i < 500; ++i)
        sends.push_back({static_cast<Time>(draw() % 2000) * us, static_cast<int>(draw() % 12),
                         static_cast<int>(draw() % 12), static_cast<std::int64_t>(draw() % 3000)});
    std::ranges::stable_sort(sends, {}, &Sent::when);
    for (const auto& tier : network_tiers()) {
        const Reports reports = run(machine, torus, sends, tier);
        std::vector<std::int64_t> taken(12);
        Time last = 0;
        for (std::uint32_t i = 0; i < sends.size(); ++i) {
            const Sent& each = sends[i];
            EXPECT_LE(reports.out.at(i), reports.in.at(i)) << tier;
            EXPECT_GE(reports.out.at(i), each.when) << tier;
            if (each.from == each.to) continue;
            const Time takes = transfer_time(machine.packets.wire(each.bytes), 100e6);
            EXPECT_GE(reports.in.at(i), each.when + takes + us + nodes->hops(each.from, each.to) * us / 10)
                << tier;
            taken[static_cast<std::size_t>(each.to)] += machine.packets.wire(each.bytes);
            last = std::max(last, reports.in.at(i));
        }
        for (const std::int64_t bytes : taken)
            EXPECT_LE(static_cast<double>(bytes), 150e6 * seconds(last) * (1 + 1e-6)) << tier;
    }
}

}  // namespace
}  // namespace leadline::machine
