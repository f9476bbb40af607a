// A collective computed at once gives what the same messages give one by one.
#include <gtest/gtest.h>

#include "collectives/algorithm.hpp"
#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// The finish time of every rank after one collective, ranks starting one after the other.
std::vector<double> at_once(int ranks, const json& simulate, bool barrier, std::size_t bytes) {
    std::vector<double> ends(static_cast<std::size_t>(ranks));
    play(simulate, [&](Comm world, Control control) -> Task<> {
        std::vector<std::byte> data(bytes);
        co_await control.busy(1e-7 * world.rank());
        if (barrier) co_await world.barrier();
        else co_await world.allreduce(data, data, Type::float64, Reduce::sum);
        ends[static_cast<std::size_t>(world.rank())] = control.now();
    });
    return ends;
}

// LogGP by hand, knowing nothing of the simulator: recursive doubling on a power of two.
std::vector<double> by_hand(int ranks, double o_s, double o_r, double L, double G, double bytes) {
    std::vector<double> clock(static_cast<std::size_t>(ranks));
    for (int r = 0; r < ranks; ++r) clock[static_cast<std::size_t>(r)] = 1e-7 * r;
    for (int k = 1; k < ranks; k *= 2) {
        std::vector<double> next(clock.size());
        for (int r = 0; r < ranks; ++r) {
            const double mine = clock[static_cast<std::size_t>(r)] + o_s;
            const double theirs = clock[static_cast<std::size_t>(r ^ k)] + o_s + L + bytes * G;
            next[static_cast<std::size_t>(r)] = std::max(mine, theirs) + o_r;
        }
        clock = next;
    }
    return clock;
}

// Sixteen ranks on a ring without hops: every distance is the same, as LogGP has it.
TEST(Collective, RecursiveDoublingIsLogGpByHand) {
    json described = round_machine();
    described["links"]["hop"] = 0;
    const auto simulated = at_once(16, on(16, described), false, 64);
    const auto expected = by_hand(16, 1e-6, 2e-6, 3e-6, 1e-9, 64);
    for (std::size_t r = 0; r < expected.size(); ++r) EXPECT_NEAR(simulated[r], expected[r], 1e-13);
}

// Each rank begins its messages as much later, whichever messages they are.
TEST(Collective, BeginningOneTakesACoreSoLong) {
    json slow = round_machine();
    slow["collective_overhead"] = 7e-7;
    for (const bool barrier : {true, false}) {
        const auto before = at_once(12, on(12), barrier, 64);
        const auto after = at_once(12, on(12, slow), barrier, 64);
        for (std::size_t r = 0; r < before.size(); ++r) EXPECT_NEAR(after[r] - before[r], 7e-7, 1e-12);
    }
}

// A core that copies 1000 B in 1 us does so before its messages where its result will be elsewhere: all ranks
// of a reduction or an allgather, of its own block in an alltoall, the root of a gather.
TEST(Collective, WhatARankBringsIsCopiedFirst) {
    json copies = round_machine();
    copies["copy"] = 1e9;
    const auto later = [&](Collective what, int rank) {
        std::array<double, 2> ends{};
        for (const bool with : {false, true})
            play(on(2, with ? copies : round_machine()), [&](Comm world, Control control) -> Task<> {
                std::vector<std::byte> data(2000);
                const bool parts = what != Collective::allreduce;
                const Call call{.what = what,
                                .out = Bytes(data).first(what == Collective::alltoall ? 2000 : 1000),
                                .in = Bytes(data).first(parts ? 2000 : 1000)};
                co_await world.collective(call);
                if (world.rank() == rank) ends.at(with ? 1 : 0) = control.now();
            });
        return ends[1] - ends[0];
    };
    for (const auto what : {Collective::allreduce, Collective::allgather, Collective::alltoall})
        for (const int rank : {0, 1}) EXPECT_NEAR(later(what, rank), 1e-6, 1e-12) << name_of(what);
    EXPECT_NEAR(later(Collective::gather, 1), 0, 1e-12);
}

// The same exchanges said by each rank: equal to the bit.
TEST(Collective, AtOnceEqualsMessageByMessage) {
    const json simulate = on(16, round_machine(), {4, 4});
    std::vector<double> ends(16);
    play(simulate, [&](Comm world, Control control) -> Task<> {
        std::vector<std::byte> data(64);
        co_await control.busy(1e-7 * world.rank());
        for (int k = 1; k < world.size(); k *= 2)
            co_await world.sendrecv(data, world.rank() ^ k, data, world.rank() ^ k);
        ends[static_cast<std::size_t>(world.rank())] = control.now();
    });
    EXPECT_EQ(at_once(16, simulate, false, 64), ends);
}

TEST(Collective, ADisseminationBarrierLetsNobodyLeaveEarly) {
    const auto ends = at_once(13, on(13), true, 0);
    for (const double end : ends) EXPECT_GT(end, 1e-7 * 12);
}

// The hardware's barrier serves the world and its copies, nobody else.
TEST(Collective, TheBarrierNetworkServesTheWorldOnly) {
    json described = round_machine();
    described["barrier_network"] = {{"latency", 1.3e-6}};
    double whole = 0;
    double copy = 0;
    double part = 0;
    play(on(8, described), [&](Comm world, Control control) -> Task<> {
        Comm twin = co_await world.dup();
        Comm fewer = co_await world.split(world.rank() == 7, 0);
        const double begin = control.now();
        co_await world.barrier();
        const double second = control.now();
        co_await twin.barrier();
        const double third = control.now();
        co_await fewer.barrier();
        if (world.rank() == 0) {
            whole = second - begin;
            copy = third - second;
            part = control.now() - third;
        }
    });
    EXPECT_NEAR(whole, 1.3e-6, 1e-13);
    EXPECT_NEAR(copy, 1.3e-6, 1e-13);
    EXPECT_GT(part, 5e-6);
}

// A megabyte over a tree of 337 MB/s, whoever is the root; floating point as often as the machine says.
TEST(Collective, TheCollectiveNetworkTakesItsRate) {
    json described = round_machine();
    described["collective_network"] = {{"rate", 337e6}, {"latency", 2.5e-6}, {"float_factor", 3.5}};
    const auto ends = at_once(8, on(8, described), false, 1'000'000);
    EXPECT_NEAR(ends[0], 7e-7 + 2.5e-6 + 3.5 * 1e6 / 337e6, 1e-11);
}

// How long a megabyte takes from rank 0 to those of eight ranks in a ring that `inside` names.
double line_broadcast(const std::set<int>& inside) {
    json described = round_machine();
    described["line_broadcast"] = true;
    double longest = 0;
    play(on(8, described), [&](Comm world, Control control) -> Task<> {
        Comm part = co_await world.split(inside.contains(world.rank()) ? 0 : 1, 0);
        std::vector<std::byte> data(1'000'000);
        const double begin = control.now();
        if (inside.contains(world.rank())) co_await part.bcast(data, 0);
        longest = std::max(longest, control.now() - begin);
    });
    return longest;
}

// At 1 GB/s a megabyte takes a millisecond down a line, half of it both ways round a ring; three ranks that
// leave a hole have a tree of two stages.
TEST(Collective, ALineIsBroadcastToAtOnceAndARingFromBothSides) {
    EXPECT_NEAR(line_broadcast({0, 1, 2, 3}), 1e-3, 1e-5);
    EXPECT_NEAR(line_broadcast({0, 1, 2, 3, 4, 5, 6, 7}), 5e-4, 1e-5);
    EXPECT_NEAR(line_broadcast({0, 1, 3}), 2e-3, 2e-5);
}

// Every algorithm gives every rank what it must: a broadcast reaches all, an all-reduction mixes all.
TEST(Collective, EveryAlgorithmBringsWhatItMust) {
    for (const auto& algorithm : collectives::algorithms()) {
        if (!std::set<std::string>{"barrier", "bcast", "allreduce"}.contains(algorithm.operation)) continue;
        for (const int ranks : {2, 3, 5, 8, 13, 64}) {
            const auto all = static_cast<std::size_t>(ranks);
            std::vector<std::set<int>> known(all);  // from whom each rank knows something
            const int root = ranks / 2;
            for (int r = 0; r < ranks; ++r)
                if (algorithm.operation != "bcast" || r == root) known[static_cast<std::size_t>(r)].insert(r);
            for (const auto& stage : algorithm.stages({.ranks = ranks, .root = root, .bytes = 8})) {
                const auto before = known;
                const auto pass = [&](int from, int to) {
                    const auto& given = before[static_cast<std::size_t>(from)];
                    EXPECT_TRUE(algorithm.operation != "bcast" || !given.empty()) << algorithm.name;
                    known[static_cast<std::size_t>(to)].insert(given.begin(), given.end());
                };
                collectives::each_message(stage, ranks, pass);
            }
            for (const auto& each : known)
                EXPECT_EQ(each.size(), algorithm.operation == "bcast" ? 1U : all)
                    << algorithm.operation << ' ' << algorithm.name << " of " << ranks;
        }
    }
}

}  // namespace
}  // namespace leadline
