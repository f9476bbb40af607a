// Simulated time: whole picoseconds, so that a run is the same to the bit wherever it is computed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace leadline::machine {

using Time = std::int64_t;  // ps; 2^63 ps are 106 days

inline constexpr Time never = std::numeric_limits<Time>::max();

constexpr double seconds(Time time) { return static_cast<double>(time) * 1e-12; }
inline Time from_seconds(double value) { return std::llround(value * 1e12); }

// How long `bytes` take at `rate` B/s, rounded to the next picosecond; nothing at an infinite rate.
inline Time transfer_time(std::int64_t bytes, double rate) {
    return static_cast<Time>(std::ceil(static_cast<double>(bytes) * (1e12 / rate)));
}

}  // namespace leadline::machine
