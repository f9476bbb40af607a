// The clock that samples are taken with, and how fine and how dear it is on this machine.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace leadline {

// Seconds since the program began; monotonic. Kept relative so that a double resolves below a nanosecond.
inline double steady_seconds() {
    using Clock = std::chrono::steady_clock;
    static const Clock::time_point begin = Clock::now();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct ClockQuality {
    double resolution;  // smallest step seen, s
    double overhead;    // median time of one reading, s

    // A thousand readings' worth of time: the clock's own cost and step stay below 0.1 % of a sample, s.
    [[nodiscard]] double shortest_sample() const { return 1000 * std::max(overhead, resolution); }
};

// Measures the clock itself: steps between successive readings, and the time that many readings take.
inline ClockQuality measure_clock() {
    constexpr int readings = 200;
    constexpr int rounds = 15;
    double smallest = 1;
    std::array<double, rounds> each{};
    for (auto& round : each) {
        const double begin = steady_seconds();
        double last = begin;
        for (int i = 0; i < readings; ++i) {
            const double now = steady_seconds();
            if (now > last) smallest = std::min(smallest, now - last);
            last = now;
        }
        round = (last - begin) / readings;
    }
    std::nth_element(each.begin(), each.begin() + rounds / 2, each.end());
    return {smallest, each[rounds / 2]};
}

// A chain of dependent additions that nothing but the processor's own clock hastens or delays: about a
// processor cycle a step.
inline void spin(std::int64_t steps) {
    std::int64_t value = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
        value += i;
        asm volatile("" : "+r"(value));  // keeps the compiler from adding up the series itself
    }
}

}  // namespace leadline
