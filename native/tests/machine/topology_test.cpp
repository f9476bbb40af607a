// What every topology promises, tried on small ones of each kind: all pairs of nodes, all variants. A new
// kind joins by an entry in `shapes`.
#include "machine/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

namespace leadline::machine {
namespace {

using nlohmann::json;

const std::vector<std::string> shapes{
    R"({"kind": "single"})",
    R"({"kind": "torus", "shape": [1]})",
    R"({"kind": "torus", "shape": [2]})",
    R"({"kind": "torus", "shape": [7]})",
    R"({"kind": "torus", "shape": [2, 2, 2]})",
    R"({"kind": "torus", "shape": [4, 1, 3]})",
    R"({"kind": "torus", "shape": [4, 6, 5]})",
    R"({"kind": "torus", "shape": [2, 3, 2, 4]})",
    R"({"kind": "torus", "shape": [4, 3, 2], "ties": "growing"})",
    R"({"kind": "mesh", "shape": [1, 1]})",
    R"({"kind": "mesh", "shape": [2, 5]})",
    R"({"kind": "mesh", "shape": [3, 4, 5]})",
    R"({"kind": "fat-tree", "arity": [5]})",
    R"({"kind": "fat-tree", "arity": [4, 3], "nodes": 1})",
    R"({"kind": "fat-tree", "arity": [4, 3, 2]})",
    R"({"kind": "fat-tree", "arity": [4, 3], "up": [2]})",
    R"({"kind": "fat-tree", "arity": [3, 1, 4], "up": [2, 5]})",
    R"({"kind": "fat-tree", "arity": [4, 3, 2], "up": [2, 1], "width": [1, 2, 4], "nodes": 17})",
    R"({"kind": "dragonfly", "groups": 1, "routers": 1, "nodes": 1, "links": 1})",
    R"({"kind": "dragonfly", "groups": 1, "routers": 1, "nodes": 3, "links": 1})",
    R"({"kind": "dragonfly", "groups": 1, "routers": 8, "nodes": 2, "links": 1})",
    R"({"kind": "dragonfly", "groups": 5, "routers": 1, "nodes": 2, "links": 5})",
    R"({"kind": "dragonfly", "groups": 9, "routers": 4, "nodes": 2, "links": 2})",
    R"({"kind": "dragonfly", "groups": 3, "routers": 4, "nodes": 2, "links": 2, "local": 2, "global": 0.5})",
    R"({"kind": "dragonfly", "groups": 4, "routers": 5, "nodes": 2, "links": 2})",
    R"({"kind": "dragonfly", "groups": 2, "routers": 3, "nodes": 3, "links": 4})",
    R"({"kind": "dragonfly", "groups": 7, "routers": 4, "nodes": 1, "links": 3})",
};

using Route = std::vector<Link>;

class TopologyContract : public testing::TestWithParam<std::string> {
protected:
    [[nodiscard]] Route route(int from, int to, int variant) const {
        Route links;
        topology->route(from, to, variant, links);
        return links;
    }
    template <class Do>
    void each_pair(Do action) const {
        for (int from = 0; from < topology->nodes(); ++from)
            for (int to = 0; to < topology->nodes(); ++to) action(from, to);
    }
    template <class Do>
    void each_route(Do action) const {
        each_pair([&](int from, int to) {
            for (int variant = 0; variant < topology->variants(from, to); ++variant)
                action(from, to, variant, route(from, to, variant));
        });
    }

    std::unique_ptr<Topology> topology = make_topology(json::parse(GetParam()));
};

TEST_P(TopologyContract, EveryRouteIsAWalkOverCablesFromTheOneNodeToTheOther) {
    each_route([&](int from, int to, int variant, const Route& links) {
        int at = from;
        for (const Link link : links) {
            ASSERT_GE(link, 0);
            ASSERT_LT(link, topology->links());
            ASSERT_GT(topology->width(link), 0);
            ASSERT_EQ(topology->ends(link).first, at) << from << " to " << to << ", variant " << variant;
            at = topology->ends(link).second;
        }
        ASSERT_EQ(at, to) << from << " to " << to << ", variant " << variant;
    });
}

TEST_P(TopologyContract, IsUniformWhereEveryLinkOfARouteHasWidthOne) {
    bool uniform = true;
    each_route([&](int, int, int, const Route& links) {
        for (const Link link : links) uniform = uniform && topology->width(link) == 1;
    });
    EXPECT_EQ(topology->uniform(), uniform);
}

TEST_P(TopologyContract, NoRoutePassesALinkTwice) {
    each_route([&](int from, int to, int, const Route& links) {
        ASSERT_EQ(std::set<Link>(links.begin(), links.end()).size(), links.size()) << from << " to " << to;
    });
}

TEST_P(TopologyContract, TheFirstVariantHasAsManyLinksAsThereAreHops) {
    each_pair([&](int from, int to) {
        ASSERT_EQ(static_cast<int>(route(from, to, 0).size()), topology->hops(from, to))
            << from << " to " << to;
    });
}

// Routes move with their ends wherever a topology says so.
TEST_P(TopologyContract, WhatMovesTakesItsRoutesAlong) {
    const std::vector<int> axes = topology->axes();
    Motion motion{.by = std::vector<int>(axes.size())};
    const auto next = [&] {
        std::size_t axis = 0;
        while (axis < axes.size() && ++motion.by[axis] == axes[axis]) motion.by[axis++] = 0;
        return axis < axes.size();
    };
    do {
        for (const bool mirrored : {false, true}) {
            motion.mirrored = mirrored;
            if (!topology->moves(motion)) continue;
            const auto move = [&](int node) {
                std::vector<int> at = topology->coordinates(node);
                for (std::size_t axis = 0; axis < axes.size(); ++axis)
                    at[axis] = motion.moved(axis, at[axis], axes[axis]);
                return topology->node_at(at);
            };
            each_route([&](int from, int to, int variant, Route links) {
                for (Link& link : links) link = topology->moved(link, motion);
                ASSERT_EQ(route(move(from), move(to), variant), links) << from << " to " << to;
            });
        }
    } while (next());
}

// Hops are the distance that a breadth-first search over all cables finds: no way is shorter. Not so on a
// dragonfly, where two cables between groups may save the ways within them: minimal means one.
TEST_P(TopologyContract, NoWayIsShorterThanTheHops) {
    const bool nearest = json::parse(GetParam())["kind"] != "dragonfly";
    std::vector<std::vector<int>> next;
    for (Link link = 0; link < topology->links(); ++link) {
        const auto [from, to] = topology->ends(link);
        next.resize(std::max(next.size(), static_cast<std::size_t>(std::max(from, to)) + 1));
        if (topology->width(link) > 0) next[static_cast<std::size_t>(from)].push_back(to);
    }
    next.resize(std::max(next.size(), static_cast<std::size_t>(topology->nodes())));
    for (int from = 0; from < topology->nodes(); ++from) {
        std::vector<int> distance(next.size(), -1), reached{from};
        distance[static_cast<std::size_t>(from)] = 0;
        for (std::size_t i = 0; i < reached.size(); ++i)
            for (const int to : next[static_cast<std::size_t>(reached[i])]) {
                if (distance[static_cast<std::size_t>(to)] >= 0) continue;
                distance[static_cast<std::size_t>(to)] = distance[static_cast<std::size_t>(reached[i])] + 1;
                reached.push_back(to);
            }
        for (int to = 0; to < topology->nodes(); ++to) {
            const int shortest = distance[static_cast<std::size_t>(to)], hops = topology->hops(from, to);
            ASSERT_GE(shortest, 0) << from << " to " << to;
            ASSERT_TRUE(hops == shortest || (hops > shortest && !nearest)) << from << " to " << to;
        }
    }
}

TEST_P(TopologyContract, TheEndsOfARouteAreThoseOfTheRouteWrittenOut) {
    each_pair([&](int from, int to) {
        if (from == to) return;
        const Route links = route(from, to, 0);
        const auto ends = topology->route_ends(from, to);
        ASSERT_EQ(ends.first, links.front());
        ASSERT_EQ(ends.last, links.back());
        ASSERT_EQ(ends.hops, static_cast<int>(links.size()));
    });
}

// What lets a collective's stage be known to meet nobody: on a grid, of the messages along a line those that
// pass one link have come different numbers of hops.
TEST_P(TopologyContract, OnALineOfAGridALinkIsAsFarFromNoTwoSenders) {
    if (!topology->grid()) return;
    std::set<std::tuple<Link, std::size_t, int>> passed;  // link, hops before it, sender
    std::set<std::pair<Link, std::size_t>> places;
    each_pair([&](int from, int to) {
        const auto a = topology->coordinates(from);
        const auto b = topology->coordinates(to);
        int differ = 0;
        for (std::size_t i = 0; i < a.size(); ++i) differ += a[i] != b[i] ? 1 : 0;
        if (differ != 1) return;
        const Route links = route(from, to, 0);
        for (std::size_t i = 0; i < links.size(); ++i) {
            passed.emplace(links[i], i, from);
            places.emplace(links[i], i);
        }
    });
    EXPECT_EQ(passed.size(), places.size());
}

TEST_P(TopologyContract, ThereAndBackAreAsFar) {
    each_pair([&](int from, int to) {
        ASSERT_EQ(topology->hops(from, to), topology->hops(to, from));
        ASSERT_EQ(topology->hops(from, to) == 0, from == to);
    });
}

TEST_P(TopologyContract, SomePairIsAsFarApartAsTheDiameterAndNoneFarther) {
    int most = 0;
    each_pair([&](int from, int to) { most = std::max(most, topology->hops(from, to)); });
    EXPECT_EQ(topology->diameter(), most);
}

TEST_P(TopologyContract, EveryLinkIsOfSomeRouteUnlessItHasNoCable) {
    if (topology->nodes() == 1) return;  // a node alone may be joined to a switch for nothing
    std::set<Link> used, cabled;
    each_route([&](int, int, int, const Route& links) { used.insert(links.begin(), links.end()); });
    for (Link link = 0; link < topology->links(); ++link)
        if (topology->width(link) > 0) cabled.insert(link);
    EXPECT_EQ(used, cabled);
}

TEST_P(TopologyContract, NoTwoVariantsAreTheSameRoute) {
    each_pair([&](int from, int to) {
        std::set<Route> all;
        const int variants = topology->variants(from, to);
        ASSERT_GE(variants, 1);
        for (int variant = 0; variant < variants; ++variant) all.insert(route(from, to, variant));
        ASSERT_EQ(static_cast<int>(all.size()), variants) << from << " to " << to;
    });
}

TEST_P(TopologyContract, ARouteIsAppendedToWhatStandsThere) {
    const int last = topology->nodes() - 1;
    Route links{-7};
    topology->route(0, last, 0, links);
    ASSERT_EQ(static_cast<int>(links.size()), 1 + topology->hops(0, last));
    EXPECT_EQ(links.front(), -7);
}

TEST_P(TopologyContract, CoordinatesNameTheirNodeAndLieWithinTheAxes) {
    const auto axes = topology->axes();
    std::int64_t places = 1;
    for (const int length : axes) places *= length;
    EXPECT_EQ(places, topology->nodes());
    for (int node = 0; node < topology->nodes(); ++node) {
        const auto at = topology->coordinates(node);
        ASSERT_EQ(at.size(), axes.size());
        for (std::size_t i = 0; i < at.size(); ++i) ASSERT_TRUE(at[i] >= 0 && at[i] < axes[i]);
        ASSERT_EQ(topology->node_at(at), node);
    }
}

INSTANTIATE_TEST_SUITE_P(All, TopologyContract, testing::ValuesIn(shapes),
                         [](const auto& shape) { return "shape" + std::to_string(shape.index); });

TEST(Topology, EveryKindIsHeldToTheContract) {
    std::set<std::string> held;
    for (const auto& shape : shapes) held.insert(json::parse(shape)["kind"]);
    const auto kinds = topology_kinds();
    EXPECT_EQ(held, std::set<std::string>(kinds.begin(), kinds.end()));
}

std::string refusal(const std::string& description) {
    try {
        make_topology(json::parse(description));
    } catch (const std::invalid_argument& problem) {
        return problem.what();
    }
    return "";
}

TEST(Topology, AnUnknownKindIsRefusedWithTheKindsThereAre) {
    const std::string sentence = refusal(R"({"kind": "hypercube"})");
    EXPECT_NE(sentence.find("\"hypercube\""), std::string::npos) << sentence;
    for (const auto& kind : topology_kinds()) EXPECT_NE(sentence.find(kind), std::string::npos) << sentence;
    EXPECT_NE(refusal("{}").find("torus"), std::string::npos);
    EXPECT_NE(refusal(R"({"kind": 3})").find("torus"), std::string::npos);
    EXPECT_NE(refusal("[]").find("torus"), std::string::npos);
}

}  // namespace
}  // namespace leadline::machine
