// Objects under small numbers: numbers come back, references stay good.
#include "machine/pool.hpp"

#include <gtest/gtest.h>

namespace leadline::machine {
namespace {

TEST(Pool, ANumberGivenBackIsTheNextOneTaken) {
    Pool<int> pool;
    const auto first = pool.take();
    const auto second = pool.take();
    EXPECT_NE(first, second);
    pool.give_back(first);
    EXPECT_EQ(pool.used(), 1U);
    EXPECT_EQ(pool.take(), first);
    EXPECT_EQ(pool.size(), 2U);
}

// Ten thousand more need further chunks; what a reference names stays where it is.
TEST(Pool, AReferenceStaysGoodWhileItGrows) {
    Pool<int> pool;
    int& held = pool[pool.take()];
    held = 7;
    for (int i = 0; i < 10'000; ++i) pool[pool.take()] = i;
    EXPECT_EQ(&held, &pool[0]);
    EXPECT_EQ(held, 7);
    EXPECT_EQ(pool.used(), 10'001U);
    EXPECT_GE(pool.bytes(), 10'001 * sizeof(int));
}

// What is taken and given back again and again takes no more room.
TEST(Pool, ReuseTakesNoMoreRoom) {
    Pool<int> pool;
    for (int round = 0; round < 1000; ++round) {
        const auto a = pool.take();
        const auto b = pool.take();
        pool.give_back(a);
        pool.give_back(b);
    }
    EXPECT_EQ(pool.size(), 2U);
    EXPECT_EQ(pool.used(), 0U);
}

}  // namespace
}  // namespace leadline::machine
