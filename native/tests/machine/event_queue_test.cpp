// The calendar of events against the standard priority queue, which knows the order by comparing.
#include "machine/event_queue.hpp"

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
    EventQueue<std::uint32_t> queue;
    std::mt19937_64 random(seed);
    std::uint32_t pushed = 0;
    Time now = 0;
    for (int step = 0; step < steps || !queue.empty(); ++step) {
        const double draw = static_cast<double>(random() >> 11U) * 0x1p-53;
        if (step < steps && (queue.empty() || draw < pushing)) {
            const Time when = now + static_cast<Time>(random() % static_cast<std::uint64_t>(horizon));
            reference.emplace(when, pushed);
            queue.push(when, pushed++);
        } else if (!queue.empty()) {
            const auto [when, event] = reference.top();
            reference.pop();
            ASSERT_EQ(queue.next(), when);
            ASSERT_EQ(queue.pop(), event);
            ASSERT_EQ(queue.now(), when);
            now = when;
        }
        ASSERT_EQ(queue.size(), reference.size());
        ASSERT_EQ(queue.next(), reference.empty() ? never : std::get<0>(reference.top()));
    }
    EXPECT_TRUE(reference.empty());
}

TEST(EventQueue, order_is_that_of_time_then_of_pushing_at_any_horizon) {
    // From all at one instant, over many equal times, to seconds and days between two events.
    for (const Time horizon :
         {1LL, 2LL, 50LL, 300LL, 70'000LL, 10'000'000LL, 3'000'000'000'000LL, 1LL << 45U})
        for (const double pushing : {0.3, 0.5, 0.7}) compare(7, horizon, 20'000, pushing);
}

// The levels are of eight bits each: what is pushed less than 256 ps ahead in the same 256 ps moves not at
// all, what differs from now in its second byte at most once, in its third at most twice.
TEST(EventQueue, an_event_moves_at_most_once_a_byte_of_its_distance) {
    EventQueue<int> queue;
    for (int i = 0; i < 200; ++i) queue.push(i, i);
    while (!queue.empty()) queue.pop();
    EXPECT_EQ(queue.moved(), 0);
    for (int i = 0; i < 1000; ++i) queue.push(256 + 60 * i, i);
    while (!queue.empty()) queue.pop();
    EXPECT_LE(queue.moved(), 1000);
    const std::uint64_t before = queue.moved();
    for (int i = 0; i < 1000; ++i) queue.push((1 << 16) + 16'000 * i, i);
    while (!queue.empty()) queue.pop();
    EXPECT_LE(queue.moved() - before, 2000);
}

TEST(EventQueue, a_push_into_the_past_counts_as_now_and_comes_after_what_is_there) {
    EventQueue<int> queue;
    queue.push(1000, 1);
    queue.push(1000, 2);
    EXPECT_EQ(queue.pop(), 1);
    queue.push(3, 3);
    EXPECT_EQ(queue.next(), 1000);
    EXPECT_EQ(queue.pop(), 2);
    EXPECT_EQ(queue.pop(), 3);
    EXPECT_EQ(queue.now(), 1000);
}

TEST(EventQueue, a_push_between_now_and_the_next_event_comes_first) {
    // Asking for the next time must not commit the queue to it.
    EventQueue<int> queue;
    queue.push(5'000'000, 1);
    EXPECT_EQ(queue.next(), 5'000'000);
    queue.push(4'999'999, 2);
    queue.push(17, 3);
    EXPECT_EQ(queue.pop(), 3);
    queue.push(18, 4);
    EXPECT_EQ(queue.pop(), 4);
    EXPECT_EQ(queue.pop(), 2);
    EXPECT_EQ(queue.pop(), 1);
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.next(), never);
}

TEST(EventQueue, a_million_events_of_one_instant_keep_their_order) {
    EventQueue<std::uint32_t> queue;
    constexpr std::uint32_t count = 1'000'000;
    for (std::uint32_t event = 0; event < count; ++event) queue.push(123'456'789, event);
    for (std::uint32_t event = 0; event < count; ++event) ASSERT_EQ(queue.pop(), event);
}

// What an event needs is fetched in steps: where many are close to one another, nearly all are announced,
// each step once and in order, before they come.
TEST(EventQueue, events_are_announced_step_by_step_before_they_come) {
    constexpr std::uint32_t count = 200'000;
    EventQueue<std::uint32_t> queue;
    std::mt19937_64 random(3);
    for (std::uint32_t event = 0; event < count; ++event)
        queue.push(1'000'000 + static_cast<Time>(random() % 3'000'000), event);
    std::vector<int> steps(count);
    std::size_t announced = 0;
    while (!queue.empty()) {
        const std::uint32_t event = queue.pop([&](std::uint32_t each, int step) {
            if (steps[each] == step) ++steps[each];
        });
        announced += steps[event] == EventQueue<std::uint32_t>::steps ? 1 : 0;
        steps[event] = -1;
    }
    EXPECT_GT(announced, count * 9 / 10);
}

TEST(EventQueue, the_end_of_time_can_be_held) {
    // `never` itself differs from zero in the highest byte.
    EventQueue<int> queue;
    queue.push(never, 1);
    queue.push(never - 1, 2);
    EXPECT_EQ(queue.pop(), 2);
    EXPECT_EQ(queue.next(), never);
    EXPECT_EQ(queue.pop(), 1);
}

}  // namespace
}  // namespace leadline::machine
