// The calendar of events against the standard priority queue, which knows the order by comparing.
#include "machine/wheel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

namespace leadline::machine {
namespace {

// Pushes and pops at random, with delays up to `horizon`; every pop must be what the reference says.
void compare(std::uint64_t seed, Time horizon, int steps, double pushing) {
    using Key = std::tuple<Time, std::uint32_t>;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> reference;
    Wheel<std::uint32_t> wheel;
    std::mt19937_64 random(seed);
    std::uint32_t pushed = 0;
    Time now = 0;
    for (int step = 0; step < steps || !wheel.empty(); ++step) {
        const double draw = static_cast<double>(random() >> 11U) * 0x1p-53;
        if (step < steps && (wheel.empty() || draw < pushing)) {
            const Time when = now + static_cast<Time>(random() % static_cast<std::uint64_t>(horizon));
            reference.emplace(when, pushed);
            wheel.push(when, pushed++);
        } else if (!wheel.empty()) {
            const auto [when, event] = reference.top();
            reference.pop();
            ASSERT_EQ(wheel.next(), when);
            ASSERT_EQ(wheel.pop(), event);
            ASSERT_EQ(wheel.now(), when);
            now = when;
        }
        ASSERT_EQ(wheel.size(), reference.size());
        ASSERT_EQ(wheel.next(), reference.empty() ? never : std::get<0>(reference.top()));
    }
    EXPECT_TRUE(reference.empty());
}

TEST(Wheel, order_is_that_of_time_then_of_pushing_at_any_horizon) {
    // From all at one instant, over many equal times, to seconds and days between two events.
    for (const Time horizon :
         {1LL, 2LL, 50LL, 300LL, 70'000LL, 10'000'000LL, 3'000'000'000'000LL, 1LL << 45U})
        for (const double pushing : {0.3, 0.5, 0.7}) compare(7, horizon, 20'000, pushing);
}

TEST(Wheel, a_push_into_the_past_counts_as_now_and_comes_after_what_is_there) {
    Wheel<int> wheel;
    wheel.push(1000, 1);
    wheel.push(1000, 2);
    EXPECT_EQ(wheel.pop(), 1);
    wheel.push(3, 3);
    EXPECT_EQ(wheel.next(), 1000);
    EXPECT_EQ(wheel.pop(), 2);
    EXPECT_EQ(wheel.pop(), 3);
    EXPECT_EQ(wheel.now(), 1000);
}

TEST(Wheel, a_push_between_now_and_the_next_event_comes_first) {
    // Asking for the next time must not commit the wheel to it.
    Wheel<int> wheel;
    wheel.push(5'000'000, 1);
    EXPECT_EQ(wheel.next(), 5'000'000);
    wheel.push(4'999'999, 2);
    wheel.push(17, 3);
    EXPECT_EQ(wheel.pop(), 3);
    wheel.push(18, 4);
    EXPECT_EQ(wheel.pop(), 4);
    EXPECT_EQ(wheel.pop(), 2);
    EXPECT_EQ(wheel.pop(), 1);
    EXPECT_TRUE(wheel.empty());
    EXPECT_EQ(wheel.next(), never);
}

TEST(Wheel, a_million_events_of_one_instant_keep_their_order) {
    Wheel<std::uint32_t> wheel;
    constexpr std::uint32_t count = 1'000'000;
    for (std::uint32_t event = 0; event < count; ++event) wheel.push(123'456'789, event);
    for (std::uint32_t event = 0; event < count; ++event) ASSERT_EQ(wheel.pop(), event);
}

TEST(Wheel, the_end_of_time_can_be_held) {
    // `never` itself differs from zero in the highest byte.
    Wheel<int> wheel;
    wheel.push(never, 1);
    wheel.push(never - 1, 2);
    EXPECT_EQ(wheel.pop(), 2);
    EXPECT_EQ(wheel.next(), never);
    EXPECT_EQ(wheel.pop(), 1);
}

}  // namespace
}  // namespace leadline::machine
