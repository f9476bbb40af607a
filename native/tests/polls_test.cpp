// Polling on a clock that was made up: how much of it is waiting, and how often the clock is read.
#include <gtest/gtest.h>

#include <cstdint>

extern "C" {
#include "record/polls.h"
}

namespace {

constexpr double gap = 1000;  // ticks are ns here

// A program that tests, and the clock that it takes.
struct Program {
    lr_polls polls{};
    std::int64_t now = 1'000'000;
    int tests = 0;
    int readings = 0;

    // Computes for so long, then tests in vain.
    void test(std::int64_t work, std::int64_t cost, int site = 1) {
        now += work;
        const bool read = lr_polls_read(&polls);
        const std::int64_t enter = now;
        now += cost;
        ++tests;
        readings += read;
        if (read) lr_polls_fail(&polls, &sites[site], enter, now, gap);
        else lr_polls_skip(&polls);
    }
    // A test that finds something; how long it took as far as is known.
    std::int64_t find(std::int64_t work, std::int64_t cost) {
        now += work;
        std::int64_t enter = lr_polls_read(&polls) ? now : 0;
        now += cost;
        if (enter == 0) enter = lr_polls_entered(&polls, now);
        lr_polls_follow(&polls, enter, gap);
        return now - enter;
    }
    // Another operation is entered now.
    std::int64_t end() {
        lr_polls_follow(&polls, now, gap);
        return lr_polls_end(&polls);
    }
    void spin(int count) {
        for (int i = 0; i < count; ++i) test(5, 20, i % 2);
    }

    char sites[4]{};
};

TEST(Polls, SpinningIsWaitingAndReadsTheClockSeldom) {
    Program program;
    program.now -= 5;
    const std::int64_t began = program.now;
    program.spin(100'000);
    const auto whole = static_cast<double>(program.now - began);
    EXPECT_NEAR(static_cast<double>(program.end()), whole, 10);
    EXPECT_LT(program.readings, 100'000 / 60);
}

TEST(Polls, WorkBetweenFewTestsIsReadOneByOne) {
    Program program;
    for (int i = 0; i < 1000; ++i) program.test(10'000, 30);
    EXPECT_EQ(program.readings, 1000);
    EXPECT_EQ(program.end(), 1000 * 30);
}

// Fifteen tests, then work, again and again: the work is found in the batches that it is in.
TEST(Polls, WorkBetweenManyTestsIsNoWaiting) {
    Program program;
    for (int turn = 0; turn < 1000; ++turn) {
        program.test(10'000, 20);
        for (int i = 1; i < 15; ++i) program.test(5, 20);
    }
    EXPECT_NEAR(static_cast<double>(program.end()), 1000 * (15 * 20 + 14 * 5), 1000 * 20);
}

// A program that tests after each small piece of work does not wait for the message meanwhile.
TEST(Polls, WorkBetweenAllTestsIsNoWaiting) {
    Program program;
    program.spin(1000);
    program.end();
    const std::int64_t began = program.now;
    for (int i = 0; i < 10'000; ++i) program.test(70, 20);
    EXPECT_LT(static_cast<double>(program.end()), 0.01 * static_cast<double>(program.now - began));
}

// The same where a message comes every thousand tests: the first tests after it are like those before.
TEST(Polls, WorkGoesOnAfterAMessage) {
    Program program;
    program.spin(1000);
    program.end();
    std::int64_t waited = 0;
    const std::int64_t began = program.now;
    for (int turn = 0; turn < 100; ++turn) {
        for (int i = 0; i < 1000; ++i) program.test(50 + 20 * (i % 5), 20);
        program.find(70, 20);
        waited += lr_polls_end(&program.polls);
    }
    EXPECT_LT(static_cast<double>(waited), 0.002 * static_cast<double>(program.now - began));
}

// Short waits after such work are waiting from the second on.
TEST(Polls, ShortWaitsAfterWorkAreWaiting) {
    Program program;
    program.spin(1000);
    program.end();
    for (int i = 0; i < 1000; ++i) program.test(70, 20);
    program.end();
    program.spin(10);
    program.end();
    program.spin(10);
    EXPECT_NEAR(static_cast<double>(program.end()), 10 * 25, 10);
}

// As long as a loop has never been quicker, what it does between its tests belongs to polling.
TEST(Polls, ASlowLoopOfTestsIsWaiting) {
    Program program;
    const std::int64_t began = program.now;
    for (int i = 0; i < 10'000; ++i) program.test(300, 100);
    EXPECT_NEAR(static_cast<double>(program.end()), static_cast<double>(program.now - began), 400);
}

// A computation in the middle of spinning: at most a batch of tests is on the wrong side.
TEST(Polls, OneComputationAmidSpinningIsFound) {
    Program program;
    program.spin(5000);
    program.now += 1'000'000;
    program.spin(5000);
    EXPECT_NEAR(static_cast<double>(program.end()), 10'000 * 25, 2 * LR_BATCH * 25);
}

// The test that finds something may move it, too: its time is its own, not that of the tests before.
TEST(Polls, ATestThatMovesDataIsLong) {
    Program program;
    program.spin(5010);
    EXPECT_NEAR(static_cast<double>(program.find(5, 50'000)), 50'000, LR_BATCH * 5);
    EXPECT_NEAR(static_cast<double>(lr_polls_end(&program.polls)), 5010 * 25, LR_BATCH * 25);
}

TEST(Polls, NothingPolledIsNothingWaited) {
    Program program;
    EXPECT_EQ(program.end(), 0);
    EXPECT_EQ(program.find(10, 40), 40);
    EXPECT_EQ(lr_polls_end(&program.polls), 0);
}

}  // namespace
