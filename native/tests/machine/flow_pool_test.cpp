// Messages that are too many to be shared out exactly: capacities, bytes, order, and how far from exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "machine/networks/flow_network.hpp"
#include "machine/symmetry.hpp"

namespace leadline::machine {
namespace {

constexpr Time us = 1'000'000;

struct Sent {
    Time when;
    Transfer transfer;
};

struct Reports final : Listener {
    void injected(std::uint32_t token, Time when) override { out[token] = when; }
    void arrived(std::uint32_t, Time) override { ++in; }
    std::vector<Time> out;
    std::size_t in = 0;
};

// 100 B/us a link, engines that hold back as well.
Machine plain() {
    Machine machine;
    machine.links = {.rate = 100e6, .hop = us / 10, .base = us};
    machine.node = {.injection = 350e6, .reception = 250e6, .local = 400e6};
    return machine;
}

nlohmann::json cube(int side) { return {{"kind", "torus"}, {"shape", {side, side, side}}}; }

// Messages between random nodes of a cube, no two of one pair, `step` apart.
std::vector<Sent> random_messages(int side, std::uint32_t count, Time step) {
    std::mt19937_64 random(9);
    const int nodes = side * side * side;
    std::vector<int> pairs;
    for (std::uint32_t i = 0; i < 4 * count; ++i)
        pairs.push_back(static_cast<int>(random() % static_cast<unsigned>(nodes * nodes)));
    std::ranges::sort(pairs);
    const auto repeated = std::ranges::unique(pairs);
    pairs.erase(repeated.begin(), repeated.end());
    std::ranges::shuffle(pairs, random);
    std::vector<Sent> all;
    for (std::uint32_t i = 0; i < count; ++i)
        all.push_back({static_cast<Time>(i) * step,
                       {.from = pairs[i] / nodes,
                        .to = pairs[i] % nodes,
                        .bytes = 500 + static_cast<std::int64_t>(random() % 4000),
                        .token = i}});
    return all;
}

// However long that takes.
constexpr FlowNetwork::Options exactly{.exact = 100'000, .work = 1e300};

// When each has left; `fullest` is asked of the network after whatever happens in it.
struct Outcome {
    std::vector<Time> out;
    double fullest = 0;
    std::size_t in = 0;
};

Outcome run(const Machine& machine, const Topology& nodes, const std::vector<Sent>& sends,
            FlowNetwork::Options options, bool watch = false) {
    Reports reports;
    reports.out.resize(sends.size());
    FlowNetwork network(machine, nodes, reports, options);
    Outcome all;
    const auto advance = [&] {
        network.advance();
        if (watch) all.fullest = std::max(all.fullest, network.fullest());
    };
    for (const Sent& each : sends) {
        while (network.next() < each.when) advance();
        network.send(each.when, each.transfer);
    }
    while (network.next() != never) advance();
    all.out = reports.out;
    all.in = reports.in;
    return all;
}

Outcome run(const Machine& machine, int side, const std::vector<Sent>& sends, FlowNetwork::Options options,
            bool watch = false) {
    return run(machine, *make_topology(cube(side)), sends, options, watch);
}

// What goes in comes out, and at no time does a resource give more than it has, with and without the rule
// that transit goes first: exactly solved, and as a pool. The fullest is full, so that the test tells.
TEST(FlowPool, NoResourceIsEverAboveItsCapacity) {
    const auto sends = random_messages(5, 500, us / 100);
    for (const bool transit : {false, true})
        for (const std::size_t exact : {std::size_t{1}, std::size_t{64}, std::size_t{256}}) {
            Machine machine = plain();
            machine.transit_first = transit;
            const Outcome all = run(machine, 5, sends, {.exact = exact}, true);
            EXPECT_EQ(all.in, sends.size());
            EXPECT_LE(all.fullest, 1 + 1e-6);
            EXPECT_GE(all.fullest, 0.99);
        }
}

// Where links stand for one another a message may use one of them several times.
TEST(FlowPool, NoLinkThatStandsForOthersIsAboveItsCapacity) {
    auto description = cube(5);
    description["ties"] = "growing";
    const auto nodes = make_topology(description);
    std::vector<Placement> placements;
    placements.reserve(static_cast<std::size_t>(nodes->nodes()));
    for (int node = 0; node < nodes->nodes(); ++node) placements.push_back({.node = node});
    const auto symmetry = Symmetry::find(*nodes, placements, 1);
    ASSERT_TRUE(symmetry);
    ASSERT_EQ(symmetry->players(), 25);
    auto sends = random_messages(5, 2000, us / 20);
    std::erase_if(sends, [&](const Sent& each) { return symmetry->behind(each.transfer.from) > 0; });
    for (std::size_t i = 0; i < sends.size(); ++i) sends[i].transfer.token = static_cast<std::uint32_t>(i);
    for (const std::size_t exact : {std::size_t{1}, std::size_t{256}}) {
        const Outcome all = run(plain(), symmetry->quotient(), sends, {.exact = exact}, true);
        EXPECT_EQ(all.in, sends.size());
        EXPECT_LE(all.fullest, 1 + 1e-6);
        EXPECT_GE(all.fullest, 0.99);
    }
}

// The same without looking inside: whatever engine is asked, the bytes that it has carried by any time since
// all began at zero are no more than its capacity times that time.
TEST(FlowPool, BytesOutAreBytesIn) {
    const Machine machine = plain();
    const auto sends = random_messages(5, 2000, 0);
    const Outcome all = run(machine, 5, sends, {});
    for (int node = 0; node < 125; ++node) {
        std::vector<std::pair<Time, std::int64_t>> ends;
        for (const Sent& each : sends)
            if (each.transfer.to == node && each.transfer.from != node)
                ends.emplace_back(all.out[each.transfer.token], each.transfer.bytes);
        std::ranges::sort(ends);
        double bytes = 0;
        for (const auto& [when, more] : ends) {
            bytes += static_cast<double>(more);
            EXPECT_LE(bytes, machine.node.reception * seconds(when) * (1 + 1e-6));
        }
    }
}

// Components of some dozens are solved exactly as long as that is cheap: then as if it had been said that
// only few are.
TEST(FlowPool, WhatTakesTooLongIsSharedOutAsAPool) {
    const Machine machine = plain();
    const auto sends = random_messages(4, 600, us / 100);
    const Outcome few = run(machine, 4, sends, {.exact = 48});
    EXPECT_EQ(run(machine, 4, sends, {.exact = 256, .few = 48, .work = 0}).out, few.out);
    EXPECT_NE(run(machine, 4, sends, {.exact = 256}).out, few.out);
    EXPECT_EQ(run(machine, 4, sends, {.exact = 256}).out,
              run(machine, 4, sends, {.exact = 256, .work = 1e300}).out);
}

// Who is told first of one instant makes no difference where shares are exact but for rounding: ten
// picoseconds of a hundred microseconds.
TEST(FlowPool, TheOrderOfAnInstantDoesNotMatter) {
    Machine machine = plain();
    machine.transit_first = false;
    auto sends = random_messages(5, 400, 0);
    const Outcome forth = run(machine, 5, sends, exactly);
    std::ranges::reverse(sends);
    const Outcome back = run(machine, 5, sends, exactly);
    for (std::size_t i = 0; i < sends.size(); ++i)
        ASSERT_NEAR(static_cast<double>(forth.out[i]), static_cast<double>(back.out[i]), 1000) << i;
}

// Against exact shares: the last message and the mean of all are within 5 %, whether all begin at once or
// come one after another while others are under way.
TEST(FlowPool, APoolIsCloseToExactShares) {
    for (const Time step : {Time{0}, us / 100}) {
        Machine machine = plain();
        machine.transit_first = false;
        const auto sends = random_messages(6, 900, step);
        const Outcome exact = run(machine, 6, sends, exactly);
        const Outcome pool = run(machine, 6, sends, {.exact = 1});
        double sum = 0;
        double expected = 0;
        for (const Sent& each : sends) {
            sum += static_cast<double>(pool.out[each.transfer.token] - each.when);
            expected += static_cast<double>(exact.out[each.transfer.token] - each.when);
        }
        EXPECT_NEAR(sum / expected, 1, 0.05);
        EXPECT_NEAR(static_cast<double>(std::ranges::max(pool.out)) /
                        static_cast<double>(std::ranges::max(exact.out)),
                    1, 0.05);
    }
}

}  // namespace
}  // namespace leadline::machine
