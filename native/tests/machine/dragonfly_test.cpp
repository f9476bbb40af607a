// Dragonflies: figures of the paper that named them, and those known from counting cables.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "machine/topology.hpp"

namespace leadline::machine {
namespace {

std::unique_ptr<Topology> dragonfly(int groups, int routers, int nodes, int links) {
    return make_topology({{"kind", "dragonfly"},
                          {"groups", groups},
                          {"routers", routers},
                          {"nodes", nodes},
                          {"links", links},
                          {"local", 2},
                          {"global", 3}});
}

std::vector<Link> route(const Topology& topology, int from, int to, int variant = 0) {
    std::vector<Link> links;
    topology.route(from, to, variant, links);
    return links;
}

// Links of a route by their width, which tells them apart here: 1 of nodes, 2 within groups, 3 between them.
std::map<double, int> links_of(const Topology& topology, const std::vector<Link>& links) {
    std::map<double, int> count;
    for (const Link link : links) ++count[topology.width(link)];
    return count;
}

template <class Do>
void each_route(const Topology& topology, Do action) {
    for (int from = 0; from < topology.nodes(); ++from)
        for (int to = 0; to < topology.nodes(); ++to)
            for (int variant = 0; variant < topology.variants(from, to); ++variant)
                action(variant, links_of(topology, route(topology, from, to, variant)));
}

// Kim et al., ISCA 2008, figure 5: p = h = 2, a = 4 give 9 groups and 72 nodes.
TEST(Dragonfly, OfThePaperHas72NodesAndFiveHops) {
    const auto paper = dragonfly(9, 4, 2, 2);
    EXPECT_EQ(paper->nodes(), 72);
    EXPECT_EQ(paper->diameter(), 5);
    EXPECT_EQ(paper->links(), 2 * 72 + 9 * 4 * 3 + 9 * 8);
}

TEST(Dragonfly, MinimalIsAtMostLocalGlobalLocalBesideTheNodesLinks) {
    each_route(*dragonfly(9, 4, 2, 2), [](int variant, std::map<double, int> links) {
        if (variant > 0) return;
        EXPECT_LE(links[1], 2);
        EXPECT_LE(links[2], 2);
        EXPECT_LE(links[3], 1);
    });
}

TEST(Dragonfly, ValiantPassesOneOtherGroup) {
    int detours = 0;
    each_route(*dragonfly(9, 4, 2, 2), [&](int variant, std::map<double, int> links) {
        if (variant == 0 || links[3] == 0) return;
        ++detours;
        EXPECT_EQ(links[1], 2);
        EXPECT_LE(links[2], 3);
        EXPECT_EQ(links[3], 2);
    });
    EXPECT_EQ(detours, 72 * 64 * 4);  // four for each pair in different groups
}

TEST(Dragonfly, ValiantWithinAGroupPassesOneOtherRouter) {
    const auto one = dragonfly(1, 8, 2, 1);
    EXPECT_EQ(one->variants(0, 1), 1);
    EXPECT_EQ(one->variants(0, 2), 1 + 4);
    EXPECT_EQ(links_of(*one, route(*one, 0, 2, 3)), (std::map<double, int>{{1, 2}, {2, 2}}));
}

// Cables between each two groups, and those at each router.
TEST(Dragonfly, CablesBetweenGroupsAreSharedOutAlike) {
    for (const auto& [groups, routers, links, each] : std::vector<std::array<int, 4>>{
             {9, 4, 2, 1}, {3, 4, 2, 4}, {5, 4, 3, 3}, {4, 5, 2, 3}, {2, 3, 4, 12}, {7, 4, 2, 1}}) {
        const auto topology = dragonfly(groups, routers, 1, links);  // a node a router: it stands for it
        std::map<std::pair<int, int>, int> pairs;
        std::map<int, int> out;
        for (Link link = 0; link < topology->links(); ++link) {
            if (topology->width(link) != 3) continue;
            const auto [from, to] = topology->ends(link);
            const int nodes = topology->nodes();
            ++pairs[{(from - nodes) / routers, (to - nodes) / routers}];
            ++out[from];
        }
        EXPECT_EQ(pairs.size(), static_cast<std::size_t>(groups * (groups - 1)));
        for (const auto& [pair, count] : pairs) EXPECT_EQ(count, each) << pair.first << ", " << pair.second;
        int most = 0, least = links;
        for (int router = 0; router < groups * routers; ++router) {
            most = std::max(most, out[topology->nodes() + router]);
            least = std::min(least, out[topology->nodes() + router]);
        }
        EXPECT_LE(most, links);
        EXPECT_LE(most - least, 1);
    }
}

// With a cable to the other group at every router, one way within a group is enough: 2 nodes' links + 1 + 1.
TEST(Dragonfly, WithACableToEachGroupAtEveryRouterIsFourHops) {
    EXPECT_EQ(dragonfly(2, 4, 2, 1)->diameter(), 4);
    EXPECT_EQ(dragonfly(3, 4, 2, 1)->diameter(), 5);
}

TEST(Dragonfly, WhatCannotBeIsRefusedWithWhatWasGot) {
    const auto refusal = [](int groups, int routers, int nodes, int links) -> std::string {
        try {
            dragonfly(groups, routers, nodes, links);
        } catch (const std::invalid_argument& problem) {
            return problem.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(10, 4, 2, 2),
              "topology: routers * links is at least groups - 1, a cable to each other group, but got 8 for "
              "10 groups");
    EXPECT_EQ(refusal(0, 4, 2, 2), "topology: groups is a whole number of 1 or more, but got 0");
    EXPECT_EQ(refusal(9, -4, 2, 2), "topology: routers is a whole number of 1 or more, but got -4");
    EXPECT_EQ(refusal(2, 100000, 1, 1),
              "topology: a 32-bit number is to count the links, but there are more");
    EXPECT_EQ(refusal(2, 100000, 100000, 1),
              "topology: a 32-bit number is to count the nodes, but there are more");
    EXPECT_EQ(refusal(1, 1, 1, 2147483647), "");
    const nlohmann::json flat{{"kind", "dragonfly"}, {"groups", 1}, {"routers", 1},
                              {"nodes", 1},          {"links", 1},  {"local", 0}};
    EXPECT_THROW(make_topology(flat), std::invalid_argument);
}

}  // namespace
}  // namespace leadline::machine
