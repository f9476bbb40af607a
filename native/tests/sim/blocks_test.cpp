// Collectives whose ranks bring blocks of different sizes: each message has the bytes of the blocks in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "comm/comm.hpp"
#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

constexpr int ranks = 7;
constexpr std::array<std::int64_t, ranks> sizes{1'000, 50'000, 3'000, 0, 7'000, 100, 20'000};

json without_hops() {
    json described = round_machine();
    described["links"]["hop"] = 0;
    return described;
}

// When each rank leaves, all having come at 0.
std::vector<double> ends(Collective what, const char* algorithm, const json& simulate,
                         std::span<const std::int64_t> of = sizes) {
    std::vector<double> all(of.size());
    play(simulate, [&](Comm world, Control control) -> Task<> {
        std::vector<Part> takes;
        std::int64_t whole = 0;
        for (int peer = 0; peer < world.size(); ++peer) {
            const std::int64_t bytes = of[static_cast<std::size_t>(peer)];
            if (bytes > 0) takes.push_back({peer, bytes, whole});
            whole += bytes;
        }
        const auto own = static_cast<std::size_t>(of[static_cast<std::size_t>(world.rank())]);
        std::vector<std::byte> data(static_cast<std::size_t>(whole));
        const bool gathers = what == Collective::allgather;
        const Call call{.what = what,
                        .out = Bytes(data).first(gathers ? own : data.size()),
                        .in = Bytes(data).first(gathers ? data.size() : own),
                        .takes = takes,
                        .algorithm = algorithm};
        co_await world.collective(call);
        all[static_cast<std::size_t>(world.rank())] = control.now();
    });
    return all;
}

struct Message {
    int from;
    std::int64_t came;
};

// When each rank is through the same messages of its own: in each stage it receives one and sends one.
std::vector<double> by_hand(int stages, const std::function<Message(int stage, int rank)>& of) {
    std::vector<double> all(ranks);
    play(on(ranks, without_hops()), [&](Comm world, Control control) -> Task<> {
        std::vector<std::byte> data(100'000);
        for (int stage = 0; stage < stages; ++stage) {
            const Message mine = of(stage, world.rank());
            const auto block = [&](std::int64_t bytes) {
                return Bytes(data).first(static_cast<std::size_t>(bytes));
            };
            std::vector<Comm::Request> requests;
            requests.push_back(world.irecv(block(mine.came), mine.from, stage));
            for (int to = 0; to < ranks; ++to)
                if (const Message theirs = of(stage, to); theirs.from == world.rank())
                    requests.push_back(world.isend(block(theirs.came), to, stage));
            co_await world.wait_all(requests);
        }
        all[static_cast<std::size_t>(world.rank())] = control.now();
    });
    return all;
}

int round_the(int rank) { return ((rank % ranks) + ranks) % ranks; }
std::int64_t block(int rank) { return sizes.at(static_cast<std::size_t>(round_the(rank))); }

void expect_near(const std::vector<double>& found, const std::vector<double>& expected) {
    for (std::size_t rank = 0; rank < expected.size(); ++rank)
        EXPECT_NEAR(found[rank], expected[rank], 1e-12) << "rank " << rank;
}

// A block goes from rank to rank: in stage s a rank takes that of the rank s + 1 before it.
TEST(Blocks, ARingPassesEachOn) {
    const auto expected = by_hand(ranks - 1, [](int stage, int rank) {
        return Message{round_the(rank - 1), block(rank - 1 - stage)};
    });
    expect_near(ends(Collective::allgather, "ring", on(ranks, without_hops())), expected);
}

// In stage k a rank takes 2^k blocks, or what is left to take, from the rank 2^k after it, which begin there.
TEST(Blocks, BrucksAllgatherTakesThoseOfARow) {
    const auto expected = by_hand(3, [](int stage, int rank) {
        const int by = 1 << stage;
        std::int64_t came = 0;
        for (int i = 0; i < std::min(by, ranks - by); ++i) came += block(rank + by + i);
        return Message{round_the(rank + by), came};
    });
    expect_near(ends(Collective::allgather, "bruck", on(ranks, without_hops())), expected);
}

// In each stage a rank gives somebody else that one's block.
TEST(Blocks, AReduceScatterByPairsTakesItsOwn) {
    const auto expected = by_hand(ranks - 1, [](int stage, int rank) {
        return Message{round_the(rank - 1 - stage), block(rank)};
    });
    expect_near(ends(Collective::reduce_scatter, "pairwise", on(ranks, without_hops())), expected);
}

// All that is not a rank's own comes to it at 1 GB/s, whatever the algorithm.
TEST(Blocks, NobodyLeavesBeforeAllHasCome) {
    json described = without_hops();
    described["node"].update({{"injection", 1e9}, {"reception", 1e9}});
    json simulate = on(ranks, described);
    simulate["network"] = "flow";
    const auto whole = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    int tried = 0;
    for (const auto& each : collectives::algorithms()) {
        if (each.operation != "allgather") continue;
        const auto left = ends(Collective::allgather, each.name.c_str(), simulate);
        for (int rank = 0; rank < ranks; ++rank)
            EXPECT_GT(left[static_cast<std::size_t>(rank)],
                      1e-9 * static_cast<double>(whole - block(rank)) - 1e-12)
                << each.name << ", rank " << rank;
        ++tried;
    }
    EXPECT_GE(tried, 4);
}

// Blocks of which one is a byte longer take about as long as equal ones, whatever the number of ranks: a
// message of equal blocks has as many as there are in it.
TEST(Blocks, EqualOnesAreAlmostEqualOnes) {
    int tried = 0;
    for (const auto& each : collectives::algorithms()) {
        const auto what = each.operation == "allgather"        ? Collective::allgather
                          : each.operation == "reduce_scatter" ? Collective::reduce_scatter
                                                               : Collective::barrier;
        if (what == Collective::barrier) continue;
        for (const std::size_t many : {3, 5, 6, 7, 8, 12}) {
            std::vector<std::int64_t> all(many, 20'000);
            const json simulate = on(static_cast<int>(many), without_hops());
            const auto equal = ends(what, each.name.c_str(), simulate, all);
            all.back() += 8;
            const auto almost = ends(what, each.name.c_str(), simulate, all);
            for (std::size_t rank = 0; rank < many; ++rank)
                EXPECT_NEAR(equal[rank], almost[rank], 0.01 * equal[rank])
                    << each.operation << ' ' << each.name << ", rank " << rank << " of " << many;
            ++tried;
        }
    }
    EXPECT_GE(tried, 36);
}

// Two nodes of four and three ranks, blocks of 100 kB, 1 GB/s between nodes: the second node's first rank
// takes four blocks and the first's three, while both began alike.
TEST(Blocks, ANodeWithFewerRanksHasFewerToGive) {
    json described = without_hops();
    described["node"] = {{"cores", 4}, {"ranks", 4}};
    json simulate = on(ranks, described, {2});
    simulate["mapping"] = "TX";
    std::vector<double> left(ranks);
    play(simulate, [&](Comm world, Control control) -> Task<> {
        std::vector<std::byte> data(std::size_t{100'000} * ranks);
        const Call call{.what = Collective::allgather,
                        .out = Bytes(data).first(100'000),
                        .in = data,
                        .algorithm = "hierarchical"};
        co_await world.collective(call);
        left[static_cast<std::size_t>(world.rank())] = control.now();
    });
    EXPECT_NEAR(left[4] - left[0], 1e-4, 2e-5);
}

}  // namespace
}  // namespace leadline
