// Which ranks are in which communicator, on made-up machines.
#include "harness/communicators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/blocks.hpp"
#include "harness/grids.hpp"
#include "harness/nodes.hpp"

namespace leadline {
namespace {

// A grid of nodes of which all ranks of the first node come first, then those of the next along the first
// axis, and so on.
Whereabouts machine(const std::vector<int>& axes, int per_node) {
    const std::vector<int> lengths(axes.rbegin(), axes.rend());
    return {.ranks = ranks_of(axes) * per_node,
            .axes = axes,
            .placement =
                [per_node](int rank) {
                    return NodePlace{rank / per_node, rank % per_node};
                },
            .coordinates =
                [per_node, lengths](int rank) {
                    std::vector<int> at = place_in(rank / per_node, lengths);
                    std::ranges::reverse(at);
                    return at;
                }};
}

Whereabouts cluster(int nodes, int per_node) {
    Whereabouts made = machine({nodes}, per_node);
    made.axes.clear();
    made.coordinates = [](int) { return std::vector<int>(); };
    return made;
}

std::vector<int> members_of(const Membership& made, int ranks, int communicator = 0) {
    std::vector<int> found;
    for (int rank = 0; rank < ranks; ++rank)
        if (made.of(rank) == communicator) found.push_back(rank);
    return found;
}

std::string refused(const std::string& name, const Whereabouts& where) {
    try {
        membership(name, where);
    } catch (const Skipped& skipped) {
        return skipped.what();
    }
    return "";
}

TEST(Communicators, TheWorldItsCopyAndAllButTheLast) {
    const auto where = cluster(3, 2);
    EXPECT_EQ(membership("world", where).size, 6);
    EXPECT_FALSE(membership("world", where).copy);
    EXPECT_TRUE(membership("dup", where).copy);
    EXPECT_EQ(members_of(membership("world-1", where), 6), (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(membership("world-1", where).of(5), Membership::nobody);
}

// Four ranks a node, of which the first two have communicators: one over the first ranks of both nodes, one
// over the second.
TEST(Communicators, ByCoreAreOneForEachCoreAndTheOthersStandBy) {
    const auto made = membership("cores-2", cluster(2, 4));
    EXPECT_EQ(made.communicators, 2);
    EXPECT_EQ(made.size, 2);
    EXPECT_EQ(members_of(made, 8, 0), (std::vector<int>{0, 4}));
    EXPECT_EQ(members_of(made, 8, 1), (std::vector<int>{1, 5}));
    EXPECT_EQ(made.of(2), Membership::nobody);
}

// Nodes of 4 x 3 x 2: a line is along the first axis, a plane along the first two.
TEST(Communicators, BoxesHoldTheRanksOfTheirNodes) {
    const auto where = machine({4, 3, 2}, 2);
    EXPECT_EQ(members_of(membership("line-2", where), 48), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(members_of(membership("plane-2x2", where), 48), (std::vector<int>{0, 1, 2, 3, 8, 9, 10, 11}));
    EXPECT_EQ(members_of(membership("box-1x1x2", where), 48), (std::vector<int>{0, 1, 24, 25}));
    EXPECT_EQ(membership("line-full", where).size, 8);
    EXPECT_EQ(membership("plane-full", where).size, 24);
    EXPECT_EQ(membership("box-full", where).size, 48);
    EXPECT_FALSE(membership("box-full", where).which.empty());  // made by a split, not the world itself
}

// Two corners of a 2 x 2 plane that do not lie beside each other, or three of the four, are no box.
TEST(Communicators, ScatteredNodesFillNoBox) {
    const auto where = machine({4, 4}, 2);
    for (const int count : {2, 3, 5, 15}) {
        const auto made = membership("scattered-" + std::to_string(count), where);
        const auto found = members_of(made, 32);
        ASSERT_EQ(std::ssize(found), count);
        std::vector<std::set<int>> places(2);
        for (const int rank : found) {
            EXPECT_EQ(where.placement(rank).core, 0);
            for (std::size_t axis : {0U, 1U}) places[axis].insert(where.coordinates(rank)[axis]);
        }
        const auto length = [](const std::set<int>& of) { return *of.rbegin() - *of.begin() + 1; };
        EXPECT_GT(length(places[0]) * length(places[1]), count);
    }
}

TEST(Communicators, WhatDoesNotFitIsRefusedInASentence) {
    const auto torus = machine({4, 3, 2}, 2);
    EXPECT_EQ(refused("plane-2x2", cluster(8, 1)),
              "the communicator 'plane-2x2' is a part of a grid of nodes, and this machine tells of none");
    EXPECT_EQ(refused("plane-2x4", torus), "'plane-2x4' does not fit a machine of 4x3x2 nodes");
    EXPECT_EQ(refused("box-2x2x2", machine({4, 3}, 2)),
              "'box-2x2x2' needs more axes than the 2 of this machine");
    EXPECT_EQ(refused("plane-full", machine({4}, 2)),
              "'plane-full' needs more axes than the 1 of this machine");
    EXPECT_EQ(refused("cores-3", torus), "'cores-3' needs 3 ranks on a node, there are 2");
    EXPECT_EQ(refused("scattered-24", torus), "any 24 nodes of this machine of 4x3x2 nodes fill a box");
    EXPECT_EQ(refused("scattered-25", torus), "'scattered-25' needs 25 nodes, ranks sit on 24");
    EXPECT_EQ(refused("world-1", cluster(1, 2)), "'world-1' is one rank alone here, with nobody to speak to");
    EXPECT_EQ(refused("cores-1", cluster(1, 4)), "'cores-1' is one rank alone here, with nobody to speak to");
    for (const char* name :
         {"wrold", "cores-", "cores-0", "cores-x", "line-2x2", "plane-2", "plane-2x", "box-2"})
        EXPECT_TRUE(refused(name, torus).starts_with("there is no communicator '" + std::string(name) + "'"));
}

// Six nodes of a machine of 4 x 3 x 2 have ranks: a plane of 4 x 3 is not there as a whole.
TEST(Communicators, ABoxWithoutRanksOnAllOfItsNodesIsRefused) {
    auto where = machine({4, 3, 2}, 2);
    where.ranks = 12;
    EXPECT_EQ(refused("plane-full", where), "'plane-full' has 12 nodes, and ranks sit on only 6 of them");
    EXPECT_EQ(membership("line-full", where).size, 8);
}

TEST(Grids, AreAsEvenAsCanBe) {
    EXPECT_EQ(even_grid(12, 2), (std::vector<int>{3, 4}));
    EXPECT_EQ(even_grid(7, 2), (std::vector<int>{1, 7}));
    EXPECT_EQ(even_grid(64, 3), (std::vector<int>{4, 4, 4}));
    EXPECT_EQ(even_grid(24, 3), (std::vector<int>{2, 3, 4}));
    EXPECT_EQ(even_grid(131'072, 2), (std::vector<int>{256, 512}));
}

// Rank 5 of 3 x 4 stands in row 1, column 1.
TEST(Grids, NeighboursAreBelowAndAbove) {
    EXPECT_EQ(grid_neighbours(5, {3, 4}), (std::vector<int>{1, 9, 4, 6}));
    EXPECT_EQ(grid_neighbours(0, {3, 4}), (std::vector<int>{8, 4, 3, 1}));
}

TEST(Nodes, NextToTheRootAreTwoAlongEachAxis) {
    // 4 x 3 x 2 nodes of two ranks: along the last axis both neighbours are one node.
    EXPECT_EQ(next_to_root(machine({4, 3, 2}, 2)), (std::vector<int>{2, 6, 8, 16, 24}));
    EXPECT_EQ(next_to_root(machine({4, 1, 1}, 1)), (std::vector<int>{1, 3}));
    EXPECT_TRUE(next_to_root(machine({1}, 4)).empty());
    // No grid: twelve ranks as 2 x 2 x 3.
    EXPECT_EQ(next_to_root(cluster(3, 4)), (std::vector<int>{1, 2, 3, 6}));
}

TEST(Nodes, RanksStandInTheGridOfNodes) {
    EXPECT_EQ(neighbour_grid(machine({4, 3, 2}, 2)), (std::vector<int>{2, 3, 4}));
    EXPECT_EQ(neighbour_grid(cluster(3, 4)), (std::vector<int>{2, 2, 3}));
    EXPECT_DOUBLE_EQ(ranks_per_node(machine({4, 3, 2}, 2)), 2);
}

// Between half the mean and one and a half, and not all at one end: with 1,000 of them the mean is within 5
// %.
TEST(Blocks, VaryAroundTheirMean) {
    const auto sizes = block_sizes(1000, 8000, 8, true);
    std::int64_t sum = 0;
    for (const auto size : sizes) {
        EXPECT_GE(size, 3996);
        EXPECT_LE(size, 12'000);
        EXPECT_EQ(size % 8, 0);
        sum += size;
    }
    EXPECT_NEAR(static_cast<double>(sum) / 1000, 8000, 400);
    EXPECT_EQ(block_sizes(1000, 8000, 8, true), sizes);
    EXPECT_EQ(block_sizes(2, 12, 8, false), (std::vector<std::int64_t>{12, 12}));
}

TEST(Blocks, LieOneAfterTheOther) {
    const auto parts = laid_out({3, 0, 5});
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[2].peer, 2);
    EXPECT_EQ(parts[2].offset, 3);
    EXPECT_EQ(parts[2].bytes, 5);
}

}  // namespace
}  // namespace leadline
