// Which rank sits where.
#include "machine/mapping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

namespace leadline::machine {
namespace {

std::unique_ptr<Topology> torus(const nlohmann::json& shape) {
    return make_topology({{"kind", "torus"}, {"shape", shape}});
}

// The coordinates and the core of each rank, as a line of a file has them.
std::vector<std::vector<int>> places(const std::string& how, const Topology& topology, int per_node,
                                     int ranks) {
    std::vector<std::vector<int>> all;
    for (const Placement& placement : make_mapping(how, topology, per_node, ranks)) {
        all.push_back(topology.coordinates(placement.node));
        all.back().push_back(placement.core);
    }
    return all;
}

std::string refusal(const std::string& how, const Topology& topology, int per_node, int ranks) {
    try {
        make_mapping(how, topology, per_node, ranks);
    } catch (const std::invalid_argument& problem) {
        return problem.what();
    }
    return "";
}

// A file of lines that goes with the test.
class Lines {
public:
    explicit Lines(const std::string& text) : path_(testing::TempDir() + unique() + ".map") {
        std::ofstream(path_) << text;
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines() { static_cast<void>(std::remove(path_.c_str())); }

    [[nodiscard]] std::string how() const { return "file:" + path_; }
    [[nodiscard]] std::string told(const std::string& problem) const { return "mapping: " + path_ + problem; }

private:
    static std::string unique() { return testing::UnitTest::GetInstance()->current_test_info()->name(); }
    std::string path_;
};

using Places = std::vector<std::vector<int>>;

TEST(Mapping, TheFirstLetterVariesFastest) {
    const auto box = torus({2, 3, 2});
    EXPECT_EQ(places("XYZT", *box, 2, 4), (Places{{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}}));
    EXPECT_EQ(places("TXYZ", *box, 2, 4), (Places{{0, 0, 0, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {1, 0, 0, 1}}));
    EXPECT_EQ(places("ZTYX", *box, 2, 5),
              (Places{{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 1}, {0, 1, 0, 0}}));
}

TEST(Mapping, EveryOrderGivesEverySeatOnce) {
    const auto box = torus({2, 3, 2});
    std::string order = "TXYZ";
    do {
        std::set<std::vector<int>> taken;
        for (const auto& place : places(order, *box, 4, 48)) taken.insert(place);
        EXPECT_EQ(taken.size(), 48U) << order;
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Mapping, AxesBeyondTheThirdAreNamedFromTheBeginningOfTheAlphabet) {
    const auto five = torus({2, 2, 2, 2, 2});
    EXPECT_EQ(places("BAZYXT", *five, 1, 3),
              (Places{{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 1, 0}, {0, 0, 0, 1, 0, 0}}));
}

TEST(Mapping, OneAxisFillsNodesOrCoresFirst) {
    const auto one = make_topology({{"kind", "single"}});
    EXPECT_EQ(places("XT", *one, 2, 2), (Places{{0, 0}, {0, 1}}));
    const auto ring = torus({3});
    EXPECT_EQ(places("XT", *ring, 2, 4), (Places{{0, 0}, {1, 0}, {2, 0}, {0, 1}}));
    EXPECT_EQ(places("TX", *ring, 2, 4), (Places{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    EXPECT_EQ(refusal("XYZT", *ring, 2, 4),
              "mapping: \"XYZT\" has an unknown letter Y: an order here is of the letters XT");
}

TEST(Mapping, AnOrderThatIsNoneIsRefusedWithItsLetters) {
    const auto box = torus({2, 2, 2});
    const std::string rule = ": an order here is of the letters XYZT";
    EXPECT_EQ(refusal("XYQT", *box, 1, 1), "mapping: \"XYQT\" has an unknown letter Q" + rule);
    EXPECT_EQ(refusal("XYXZT", *box, 1, 1), "mapping: \"XYXZT\" has twice the letter X" + rule);
    EXPECT_EQ(refusal("XYZ", *box, 1, 1), "mapping: \"XYZ\" lacks the letter T" + rule);
    EXPECT_EQ(refusal("", *box, 1, 1), "mapping: \"\" lacks the letter X" + rule);
}

// A torus of 4 x 2 with two cores a node in tiles of 2 x 2: the first tile is full before the second begins.
TEST(Mapping, TilesFillOneAfterTheOther) {
    const auto place = torus({4, 2});
    const auto tiled = places("tiled:2x2", *place, 2, 16);
    const std::vector<std::vector<int>> first{{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {1, 0, 1},
                                              {0, 1, 0}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}};
    for (std::size_t rank = 0; rank < first.size(); ++rank) {
        EXPECT_EQ(tiled[rank], first[rank]) << rank;
        std::vector<int> second = first[rank];
        second[0] += 2;
        EXPECT_EQ(tiled[rank + first.size()], second) << rank;
    }
}

// A tile of one node, and one of all of them, are the same: cores first, then the axes in order.
TEST(Mapping, BlockedIsCoresFirst) {
    const auto place = torus({4, 2, 3});
    const auto blocked = places("blocked", *place, 2, 48);
    EXPECT_EQ(blocked, places("TXYZ", *place, 2, 48));
    EXPECT_EQ(blocked, places("tiled:1x1x1", *place, 2, 48));
    EXPECT_EQ(blocked, places("tiled:4x2x3", *place, 2, 48));
}

TEST(Mapping, ATileThatDoesNotDivideIsRefusedWithTheLengths) {
    const auto place = torus({4, 2});
    for (const char* wrong : {"tiled:3x2", "tiled:2", "tiled:2x2x2", "tiled:0x2", "tiled:2x", "tiled:2y2"})
        EXPECT_EQ(refusal(wrong, *place, 2, 16),
                  "mapping: tiled:LENGTHS has a length for each axis, which divides the nodes along it, here "
                  "4x2, but got \"" +
                      std::string(wrong).substr(6) + "\"");
}

TEST(Mapping, RanksThatDoNotFitAreRefused) {
    const auto box = torus({2, 2});
    EXPECT_EQ(refusal("XYT", *box, 2, 8), "");
    EXPECT_EQ(refusal("XYT", *box, 2, 9), "mapping: 9 ranks do not fit on 4 nodes with 2 each");
    EXPECT_NE(refusal("XYT", *box, 2, 0), "");
    EXPECT_NE(refusal("XYT", *box, 0, 1), "");
}

TEST(Mapping, AtRandomEverySeatIsTakenOnceAndAnotherSeedIsAnotherOrder) {
    const auto box = torus({4, 4, 4});
    const auto first = places("random:1", *box, 2, 128);
    EXPECT_EQ(std::set<std::vector<int>>(first.begin(), first.end()).size(), 128U);
    EXPECT_EQ(first, places("random:1", *box, 2, 128));
    EXPECT_NE(first, places("random:2", *box, 2, 128));
}

TEST(Mapping, AtRandomTheFirstRanksSitWhereTheyDoInALargerWorld) {
    const auto box = torus({4, 4, 4});
    auto all = places("random:7", *box, 2, 128);
    all.resize(5);
    EXPECT_EQ(places("random:7", *box, 2, 5), all);
}

// The standard gives the generator: std::mt19937_64(5489) begins 14514284786278117030, 4620546740167642908,
// 13109570281517897720, which leave 6, 1, 2 divided by 8, 7, 6. Fisher and Yates on 0 .. 7 then begin 6,
// 2, 4.
TEST(Mapping, TheSeedMeansTheSameEverywhere) {
    const auto ring = torus({8});
    EXPECT_EQ(places("random:5489", *ring, 1, 3), (Places{{6, 0}, {2, 0}, {4, 0}}));
}

TEST(Mapping, ASeedIsAWholeNumber) {
    const auto ring = torus({8});
    EXPECT_EQ(refusal("random:x", *ring, 1, 3),
              "mapping: random:SEED has a whole number for its seed, but got \"x\"");
    EXPECT_NE(refusal("random:", *ring, 1, 3), "");
    EXPECT_NE(refusal("random:1 ", *ring, 1, 3), "");
    EXPECT_NE(refusal("random:-1", *ring, 1, 3), "");
}

TEST(Mapping, AFileHasALineARank) {
    const auto box = torus({2, 3, 2});
    const Lines file("1 2 0 1\n 0\t0 0 0 \r\n1 2 1 1\nnot looked at\n");
    EXPECT_EQ(places(file.how(), *box, 2, 3), (Places{{1, 2, 0, 1}, {0, 0, 0, 0}, {1, 2, 1, 1}}));
}

TEST(Mapping, WhatIsWrongInAFileIsToldWithItsLine) {
    const auto box = torus({2, 3, 2});
    const auto told = [&](const std::string& text, const std::string& problem) {
        const Lines file(text);
        EXPECT_EQ(refusal(file.how(), *box, 2, 3), file.told(problem));
    };
    told("0 0 0 0\n1 0 0 0\n", " ends after 2 lines, but there are 3 ranks");
    told("", " ends after 0 lines, but there are 3 ranks");
    told("0 0 0 0\n1 0 0 0\n0 0 0 0\n", ", line 3: this placement is taken by line 1 already");
    told("0 0 0 0\n1 3 0 0\n", ", line 2: Y is of 0 to 2, but got 3");
    told("0 0 -1 0\n", ", line 1: Z is of 0 to 1, but got -1");
    told("0 0 0 2\n", ", line 1: T is of 0 to 1, but got 2");
    const std::string rule = ", line 1: a placement is 4 whole numbers (XYZT), but got ";
    told("0 0 0\n", rule + "\"0 0 0\"");
    told("0 0 0 0 0\n", rule + "\"0 0 0 0 0\"");
    told("0 0 0 x\n", rule + "\"0 0 0 x\"");
    told("0 0 0 99999999999\n", rule + "\"0 0 0 99999999999\"");
    told("0 0 0.5 0\n", rule + "\"0 0 0.5 0\"");
    told("\n", rule + "\"\"");
    EXPECT_EQ(refusal("file:nowhere.map", *box, 2, 3), "mapping: cannot read nowhere.map");
}

}  // namespace
}  // namespace leadline::machine
