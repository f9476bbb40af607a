// Fat trees: figures known from counting switches and cables.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "machine/topology.hpp"

namespace leadline::machine {
namespace {

std::unique_ptr<Topology> tree(const std::string& keys) {
    return make_topology(nlohmann::json::parse(R"({"kind": "fat-tree", )" + keys + "}"));
}

std::vector<Link> route(const Topology& topology, int from, int to, int variant = 0) {
    std::vector<Link> links;
    topology.route(from, to, variant, links);
    return links;
}

int switches(const Topology& topology) {
    std::set<int> all;
    for (Link link = 0; link < topology.links(); ++link) all.insert(topology.ends(link).second);
    return static_cast<int>(std::ranges::count_if(all, [&](int end) { return end >= topology.nodes(); }));
}

// The most messages on a link, over all the permutations that shift every node alike.
int most_of_shifts(const Topology& topology) {
    int most = 0;
    for (int shift = 1; shift < topology.nodes(); ++shift) {
        std::map<Link, int> load;
        for (int from = 0; from < topology.nodes(); ++from)
            for (const Link link : route(topology, from, (from + shift) % topology.nodes()))
                most = std::max(most, ++load[link]);
    }
    return most;
}

// 648 nodes are what two levels of 36-port switches carry: 36 leaves and 18 above them.
TEST(FatTree, OfTwoLevelsOf36PortSwitchesHas54Switches) {
    const auto two = tree(R"("arity": [18, 36])");
    EXPECT_EQ(two->nodes(), 648);
    EXPECT_EQ(switches(*two), 36 + 18);
    EXPECT_EQ(two->links(), 2 * (648 + 648));
    EXPECT_EQ(two->diameter(), 4);
}

TEST(FatTree, UnderOneLeafIsTwoHops) {
    const auto three = tree(R"("arity": [4, 3, 2])");
    EXPECT_EQ(three->hops(0, 3), 2);
    EXPECT_EQ(three->hops(3, 4), 4);
    EXPECT_EQ(three->hops(11, 12), 6);
}

// What destination-based routes are for (Zahavi): no two messages meet on a link.
TEST(FatTree, AShiftOfAllNodesMeetsNowhereUnlessTheTreeIsTapered) {
    EXPECT_EQ(most_of_shifts(*tree(R"("arity": [4, 4, 4])")), 1);
    EXPECT_EQ(most_of_shifts(*tree(R"("arity": [6, 5])")), 1);
    EXPECT_EQ(most_of_shifts(*tree(R"("arity": [4, 4, 4], "up": [2, 4])")), 2);  // 4 nodes on 2 cables
}

// Four leaves of 24 nodes with 12 cables each: half the capacity of the nodes' own.
TEST(FatTree, ATaperHasFewerCablesUp) {
    const auto tapered = tree(R"("arity": [24, 4], "up": [12])");
    EXPECT_EQ(switches(*tapered), 4 + 12);
    EXPECT_EQ(tapered->links(), 2 * (96 + 4 * 12));
    EXPECT_EQ(tapered->variants(0, 95), 12);
    EXPECT_EQ(tapered->variants(0, 23), 1);
}

TEST(FatTree, VariantsAreBoundedWhereThereAreHundredsOfWays) {
    EXPECT_EQ(tree(R"("arity": [18, 18, 2])")->variants(0, 647), 16);
}

TEST(FatTree, ANumberForEachLevelIsTheWidthOfItsCables) {
    const auto wide = tree(R"("arity": [2, 2], "up": [1], "width": [1, 4.5])");
    std::vector<double> widths;
    for (const Link link : route(*wide, 0, 3)) widths.push_back(wide->width(link));
    EXPECT_EQ(widths, (std::vector<double>{1, 4.5, 4.5, 1}));
}

TEST(FatTree, OfFewerNodesHasOnlyTheSwitchesThatTheseNeed) {
    const auto leaf = tree(R"("arity": [4, 4, 4], "nodes": 4)");
    EXPECT_EQ(leaf->diameter(), 2);
    EXPECT_EQ(switches(*leaf), 1);
    const auto five = tree(R"("arity": [4, 4, 4], "nodes": 5)");
    EXPECT_EQ(five->diameter(), 4);
    EXPECT_EQ(switches(*five), 2 + 4);
    EXPECT_EQ(tree(R"("arity": [4, 4], "nodes": 1)")->links(), 0);
}

TEST(FatTree, WhatCannotBeIsRefusedWithWhatWasGot) {
    const auto refusal = [](const std::string& keys) -> std::string {
        try {
            tree(keys);
        } catch (const std::invalid_argument& problem) {
            return problem.what();
        }
        return "";
    };
    const std::string rule = "topology: arity is a list of 1 to 16 whole numbers of 1 or more, but ";
    EXPECT_EQ(refusal(R"("up": [2])"), rule + "is missing");
    EXPECT_EQ(refusal(R"("arity": [4, 0])"), rule + "got [4,0]");
    EXPECT_EQ(refusal(R"("arity": [4, 4], "up": [4, 4])"),
              "topology: up has one number fewer than arity, but got [4,4] beside [4,4]");
    EXPECT_EQ(refusal(R"("arity": [4, 4], "up": [])"),
              "topology: up is a list of 1 to 16 whole numbers of 1 or more, but got []");
    EXPECT_EQ(refusal(R"("arity": [4], "up": [])"), "");
    EXPECT_EQ(refusal(R"("arity": [4, 4], "width": [1])"),
              "topology: width is a list of 2 numbers of more than 0, but got [1]");
    EXPECT_EQ(refusal(R"("arity": [4, 4], "width": [1, 0])"),
              "topology: width is a list of 2 numbers of more than 0, but got [1,0]");
    EXPECT_EQ(refusal(R"("arity": [4, 4], "nodes": 17)"),
              "topology: nodes is at most 16, those of the full tree, but got 17");
    EXPECT_EQ(refusal(R"("arity": [4, 4], "nodes": 0)"),
              "topology: nodes is a whole number of 1 or more, but got 0");
    EXPECT_EQ(refusal(R"("arity": [65536, 65536])"),
              "topology: a 32-bit number is to count the nodes, but there are more");
    EXPECT_EQ(refusal(R"("arity": [32768, 32768])"),
              "topology: a 32-bit number is to count the links, but there are more");
}

}  // namespace
}  // namespace leadline::machine
