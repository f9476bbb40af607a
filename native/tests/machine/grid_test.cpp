// Tori and meshes: figures known from arithmetic, and those of the machines that had them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "machine/topology.hpp"

namespace leadline::machine {
namespace {

using nlohmann::json;

std::unique_ptr<Topology> grid(const char* kind, const json& shape) {
    return make_topology({{"kind", kind}, {"shape", shape}});
}

std::vector<Link> route(const Topology& topology, int from, int to, int variant = 0) {
    std::vector<Link> links;
    topology.route(from, to, variant, links);
    return links;
}

// Cables, counted in one direction, whose ends lie on the two sides of the middle of an axis.
int bisection(const Topology& topology, std::size_t axis) {
    int count = 0;
    for (Link link = 0; link < topology.links(); ++link) {
        const auto [from, to] = topology.ends(link);
        const int middle = topology.axes()[axis] / 2;
        count +=
            topology.coordinates(from)[axis] < middle && topology.coordinates(to)[axis] >= middle ? 1 : 0;
    }
    return count;
}

// Half of each axis: 16 + 16 + 16, and 32 + 16 + 16 on the 65536 nodes of the full BlueGene/L.
TEST(Torus, TheDiameterIsHalfOfEachAxis) {
    EXPECT_EQ(grid("torus", {32, 32, 32})->diameter(), 48);
    EXPECT_EQ(grid("torus", {64, 32, 32})->diameter(), 64);
    EXPECT_EQ(grid("torus", {5, 7})->diameter(), 5);
}

TEST(Mesh, TheDiameterIsEachAxisLessOne) { EXPECT_EQ(grid("mesh", {8, 8, 4})->diameter(), 17); }

// Half-way round a ring of even length both ways are as long.
TEST(Torus, TiesGoAsTheMachineSays) {
    const auto first = [](const Topology& torus, int from, int to) {
        return torus.ends(route(torus, from, to).front()).second;
    };
    const auto parity = grid("torus", {8});
    EXPECT_EQ(first(*parity, 0, 4), 1);
    EXPECT_EQ(first(*parity, 1, 5), 0);
    const auto growing = make_topology({{"kind", "torus"}, {"shape", {8}}, {"ties", "growing"}});
    EXPECT_EQ(first(*growing, 0, 4), 1);
    EXPECT_EQ(first(*growing, 1, 5), 2);
    EXPECT_EQ(first(*growing, 1, 4), 2);
    EXPECT_EQ(first(*growing, 4, 1), 3);
    EXPECT_THROW(make_topology({{"kind", "torus"}, {"shape", {8}}, {"ties", "random"}}),
                 std::invalid_argument);
}

// A cut across the longest axis severs one cable a row, and on a torus another that wraps.
TEST(Torus, TheBisectionIsTwoCablesARow) {
    EXPECT_EQ(bisection(*grid("torus", {8, 4, 4}), 0), 2 * 4 * 4);
    EXPECT_EQ(bisection(*grid("mesh", {8, 4, 4}), 0), 4 * 4);
    EXPECT_EQ(bisection(*grid("torus", {2, 4, 4}), 0),
              2 * 4 * 4);  // two cables between the two nodes of a ring
    EXPECT_EQ(bisection(*grid("mesh", {2, 4, 4}), 0), 4 * 4);
}

TEST(Torus, HasSixLinksANode) {
    const auto torus = grid("torus", {8, 8, 16});
    EXPECT_EQ(torus->nodes(), 1024);
    EXPECT_EQ(torus->links(), 6 * 1024);
}

TEST(Torus, GoesAxisByAxisAndTheShorterWayRound) {
    const auto torus = grid("torus", {8, 8, 8});
    const int from = torus->node_at({1, 7, 3}), to = torus->node_at({7, 1, 3});
    std::vector<std::vector<int>> passed;
    for (const Link link : route(*torus, from, to))
        passed.push_back(torus->coordinates(torus->ends(link).second));
    EXPECT_EQ(passed, (std::vector<std::vector<int>>{{0, 7, 3}, {7, 7, 3}, {7, 0, 3}, {7, 1, 3}}));
}

TEST(Torus, AnAxisInWhichNothingIsToBeDoneMakesNoVariants) {
    const auto torus = grid("torus", {4, 4, 4});
    EXPECT_EQ(torus->variants(0, 0), 1);
    EXPECT_EQ(torus->variants(0, torus->node_at({0, 1, 0})), 1);
    EXPECT_EQ(torus->variants(0, torus->node_at({3, 1, 0})), 2);
    EXPECT_EQ(torus->variants(0, torus->node_at({1, 1, 2})), 6);
}

// Every node to the one opposite, 4 links away on each axis: both ways round are as long. 512 messages of 12
// links each, spread over 6 * 512 links, are two a link.
TEST(Torus, WhereBothWaysAreAsLongAllLinksAreLoadedAlike) {
    const auto torus = grid("torus", {8, 8, 8});
    std::map<Link, int> load;
    for (int from = 0; from < torus->nodes(); ++from) {
        auto at = torus->coordinates(from);
        for (int& one : at) one = (one + 4) % 8;
        for (const Link link : route(*torus, from, torus->node_at(at))) ++load[link];
    }
    EXPECT_EQ(load.size(), 6U * 512U);
    EXPECT_TRUE(std::ranges::all_of(load, [](const auto& entry) { return entry.second == 2; }));
}

// All to all on a torus of even length L loads each link of it with N * L / 8 messages: the mean way on a
// ring, L / 4, over two links a node.
TEST(Torus, AllToAllLoadsTheLinksOfAnAxisAlike) {
    const auto torus = grid("torus", {4, 8, 2});
    std::map<Link, int> load;
    for (int from = 0; from < torus->nodes(); ++from)
        for (int to = 0; to < torus->nodes(); ++to)
            for (const Link link : route(*torus, from, to)) ++load[link];
    for (Link link = 0; link < torus->links(); ++link)
        EXPECT_EQ(load[link], 64 * std::vector<int>({4, 8, 2})[static_cast<std::size_t>(link % 6 / 2)] / 8)
            << link;
}

TEST(Torus, TwoNodesMayBeJoinedByEitherCable) {
    const auto ring = grid("torus", {2});
    ASSERT_EQ(ring->variants(0, 1), 2);
    EXPECT_EQ(route(*ring, 0, 1, 0), (std::vector<Link>{0}));
    EXPECT_EQ(route(*ring, 0, 1, 1), (std::vector<Link>{1}));
}

TEST(Mesh, HasNoCableAtItsEnds) {
    const auto mesh = grid("mesh", {3, 2});
    double cables = 0;
    for (Link link = 0; link < mesh->links(); ++link) cables += mesh->width(link);
    EXPECT_EQ(cables, 2 * (2 * 2 + 3 * 1));  // two directions of 2 rows of 2 and 3 rows of 1
}

TEST(Mesh, GoesTheLongWayWhereATorusWraps) {
    EXPECT_EQ(grid("mesh", {8, 1, 1})->hops(0, 7), 7);
    EXPECT_EQ(grid("torus", {8, 1, 1})->hops(0, 7), 1);
}

// Numbers near the end of 32 bits: the product of a node and its ports stays exact.
TEST(Torus, ALargeOneRoutesAsASmallOne) {
    const auto ring = grid("torus", {1 << 29});
    const int last = ring->nodes() - 1;
    EXPECT_EQ(route(*ring, last, 1), (std::vector<Link>{2 * last, 0}));
    EXPECT_EQ(route(*ring, 1, last), (std::vector<Link>{3, 1}));
    const auto cube = grid("torus", {511, 701, 997});
    for (const int node : {0, 1, 996, 997, 698896, 698897, 357136366}) {
        const auto at = cube->coordinates(node);
        EXPECT_EQ(at, (std::vector<int>{node / (701 * 997), node / 997 % 701, node % 997}));
    }
}

TEST(Grid, AShapeThatCannotBeIsRefusedWithWhatWasGot) {
    const auto refusal = [](const json& shape) -> std::string {
        try {
            grid("torus", shape);
        } catch (const std::invalid_argument& problem) {
            return problem.what();
        }
        return "";
    };
    const std::string rule = "topology: shape is a list of 1 to 6 whole numbers of 1 or more, but got ";
    EXPECT_EQ(refusal({8, 0, 8}), rule + "[8,0,8]");
    EXPECT_EQ(refusal({8, -1}), rule + "[8,-1]");
    EXPECT_EQ(refusal({8, 2.5}), rule + "[8,2.5]");
    EXPECT_EQ(refusal({"8"}), rule + "[\"8\"]");
    EXPECT_EQ(refusal({1, 1, 1, 1, 1, 1, 1}), rule + "[1,1,1,1,1,1,1]");
    EXPECT_EQ(refusal(json::array()), rule + "[]");
    EXPECT_EQ(refusal(3), rule + "3");
    EXPECT_EQ(refusal({4294967296}), rule + "[4294967296]");
    EXPECT_EQ(refusal({65536, 65536}), "topology: a 32-bit number is to count the nodes, but there are more");
    EXPECT_EQ(refusal({32768, 32768}), "topology: a 32-bit number is to count the links, but there are more");
    EXPECT_THROW(make_topology({{"kind", "torus"}}), std::invalid_argument);
}

}  // namespace
}  // namespace leadline::machine
