// What a recorded program left behind is what was sent beyond what was received.
#include "program/left.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace leadline::program {
namespace {

Step message(Kind kind, std::int32_t peer, std::int32_t tag, std::int32_t comm = 0) {
    Step step{.kind = kind};
    step.peer = peer;
    step.tag = tag;
    step.comm = comm;
    return step;
}

Step loop(std::int64_t turns, std::uint32_t end) {
    Step step{.kind = Kind::loop};
    step.bytes = turns;
    step.leaf = end;
    return step;
}

Step end(std::int64_t begin = 0) {
    Step step{};
    step.bytes = begin;
    return step;
}

// Each rank has its own steps, to which the end is added.
Program recorded(std::vector<std::vector<Step>> ranks) {
    Program made;
    made.ranks = static_cast<int>(ranks.size());
    made.recorded = true;
    for (auto& steps : ranks) {
        steps.push_back(end());
        made.rank_sequence.push_back(static_cast<std::int32_t>(made.sequences.size()));
        made.sequences.push_back({.steps = steps, .requests = 4});
    }
    Communicator world;
    world.members.resize(ranks.size());
    std::iota(world.members.begin(), world.members.end(), 0);
    made.communicators.push_back(world);
    return made;
}

// Of five, in a loop, one is received.
TEST(Left, IsWhatWasSentBeyondWhatWasReceived) {
    const Program program =
        recorded({{loop(5, 2), message(Kind::send, 1, 7), end(0)}, {message(Kind::recv, 0, 7)}});
    const Left left = left_by(program);
    ASSERT_EQ(left.by.size(), 2U);
    ASSERT_EQ(left.by[0].size(), 1U);
    EXPECT_TRUE(left.by[1].empty());
    ASSERT_EQ(left.to[1].size(), 1U);
    const LeftMessages& all = left.to[1].front();
    EXPECT_EQ(all.from, 0);
    EXPECT_EQ(all.tag, 7);
    EXPECT_EQ(all.received, 1);
    EXPECT_EQ(all.count, 4);
}

TEST(Left, IsNothingWhereAllWasReceivedOrNothingWasRecorded) {
    EXPECT_TRUE(left_by(recorded({{message(Kind::send, 1, 7)}, {message(Kind::recv, 0, 7)}})).by.empty());
    Program written = recorded({{message(Kind::send, 1, 7)}, {}});
    EXPECT_FALSE(left_by(written).by.empty());
    written.recorded = false;
    EXPECT_TRUE(left_by(written).by.empty());
}

// Another tag and another communicator are other messages; ranks are those of the communicator.
TEST(Left, IsToldByTagAndCommunicator) {
    Program program = recorded({{message(Kind::recv, 0, 1, 1)}, {}, {message(Kind::send, 1, 2, 1)}});
    program.communicators.push_back({.members = {2, 0}});
    const Left left = left_by(program);
    ASSERT_EQ(left.by[2].size(), 1U);
    EXPECT_EQ(left.by[2].front().comm, 1);
    EXPECT_EQ(left.by[2].front().from, 0);
    EXPECT_EQ(left.by[2].front().to, 1);
    EXPECT_EQ(left.to[0].size(), 1U);
}

// Peers of a relative sequence are differences: each of three ranks sends to the next, and nobody receives.
TEST(Left, OfARelativeSequenceIsOfEachRank) {
    Program program = recorded({{message(Kind::send, 1, 0)}});
    program.sequences.front().relative = true;
    program.ranks = 3;
    program.rank_sequence = {0, 0, 0};
    program.communicators.front().members = {0, 1, 2};
    const Left left = left_by(program);
    for (int rank = 0; rank < 3; ++rank)
        EXPECT_EQ(left.by[static_cast<std::size_t>(rank)].front().to, (rank + 1) % 3);
}

// A persistent message is sent when it is started; a slot that is made ready anew sends the other one.
TEST(Left, CountsPersistentMessagesWhereTheyAreStarted) {
    Step ready = message(Kind::send, 1, 3);
    ready.form = persistent;
    ready.request = 1;
    Step start{.kind = Kind::start};
    start.gives = {.begin = 0, .size = 1};
    Program program = recorded({{ready, loop(3, 3), start, end(1)}, {message(Kind::recv, 0, 3)}});
    program.sequences.front().lists = {1};
    const Left left = left_by(program);
    ASSERT_EQ(left.by[0].size(), 1U);
    EXPECT_EQ(left.by[0].front().count, 2);
}

// What it may have taken is not known.
TEST(Left, IsNotToldWhereAReceiveSaysNotWhatItMet) {
    EXPECT_TRUE(left_by(recorded({{message(Kind::send, 1, 0), message(Kind::send, 1, 0)},
                                  {message(Kind::recv, any_peer, 0)}}))
                    .by.empty());
}

}  // namespace
}  // namespace leadline::program
