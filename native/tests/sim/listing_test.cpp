// Collectives that are written down as their messages: what is listed is what would be played.
#include <gtest/gtest.h>

#include <sstream>

#include "backend.hpp"
#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// The lines of an answer to one question about a communicator of the ranks of `members`, of eight.
std::vector<std::string> listed(const json& machine, const json& members, json question) {
    int argc = 0;
    char** argv = nullptr;
    Session session(argc, argv);
    question["communicator"] = 0;
    json simulate = on(8, machine, {8});
    simulate["network"] = "loggp";
    std::ostringstream out;
    session.list_collectives(
        {{"simulate", simulate}, {"communicators", {members}}, {"collectives", {question}}}, out);
    std::istringstream lines(out.str());
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line);
    return all;
}

// To whom, from whom, bytes sent, bytes taken, work: a binomial tree from the second of the world's ranks 6,
// 4, 2 and 0, whose numbers are those of the communicator.
TEST(Listing, HasEachRanksMessagesInTheirOrder) {
    const auto all = listed(round_machine(), {{6, 4, -2}},
                            {{"operation", "bcast"}, {"root", 1}, {"bytes", 100}, {"algorithm", "binomial"}});
    ASSERT_EQ(all.size(), 5U);
    EXPECT_EQ(json::parse(all[0]), json({{"algorithm", "binomial"}, {"hardware", false}, {"lines", 4}}));
    EXPECT_EQ(all[1], "-1 -1 0 0 0 -1 3 0 100 0 ");
    EXPECT_EQ(all[2], "-1 -1 0 0 0 3 -1 100 0 0 2 -1 100 0 0 ");
    EXPECT_EQ(all[3], "-1 -1 0 0 0 -1 1 0 100 0 ");
    EXPECT_EQ(all[4], "-1 -1 0 0 0 -1 1 0 100 0 0 -1 100 0 0 ");
}

// Two ranks exchange 1,000 B and add them at 1 GB/s, after the overhead of a collective.
TEST(Listing, HasWhatTheCoreDoesBetweenThem) {
    json machine = round_machine();
    machine["reduce"] = 1e9;
    machine["collective_overhead"] = 3e-6;
    const auto all =
        listed(machine, {{0, 2, 1}},
               {{"operation", "allreduce"}, {"bytes", 1000}, {"algorithm", "recursive-doubling"}});
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1], "-1 -1 0 0 3000000 1 1 1000 1000 1000000 ");
    EXPECT_EQ(all[2], "-1 -1 0 0 3000000 0 0 1000 1000 1000000 ");
}

// Blocks of 10, 0 and 30 B: the root takes those that are not empty, one after the other.
TEST(Listing, OfAGatherWhoseBlocksVaryTellsOneRanksPart) {
    const json asked{{"operation", "gather"}, {"root", 0}, {"bytes", 0}, {"blocks", {10, 0, 30}}};
    const auto part = [&](int rank) {
        json question = asked;
        question["rank"] = rank;
        return listed(round_machine(), {{0, 3, 1}}, question);
    };
    ASSERT_EQ(part(0).size(), 2U);
    EXPECT_EQ(part(0)[1], "-1 -1 0 0 0 -1 2 0 30 0 ");
    EXPECT_EQ(part(1)[1], "-1 -1 0 0 0 ");
    EXPECT_EQ(part(2)[1], "-1 -1 0 0 0 0 -1 30 0 0 ");
}

TEST(Listing, SaysWhatItCannotTell) {
    const auto all =
        listed(round_machine(), {{0, 8, 1}}, {{"operation", "bcast"}, {"bytes", 8}, {"algorithm", "magic"}});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_NE(all[0].find("there is no algorithm 'magic' for bcast"), std::string::npos) << all[0];
}

}  // namespace
}  // namespace leadline
