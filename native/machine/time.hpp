// Simulated time: whole picoseconds, so that a run is the same to the bit wherever it is computed.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace leadline::machine {

using Time = std::int64_t;  // ps; 2^63 ps are 106 days

inline constexpr Time never = std::numeric_limits<Time>::max();

// No clock goes beyond this, and nothing takes longer: sums of a few of them are still numbers. 26 days.
inline constexpr Time longest = Time{1} << 61;
// Throws std::range_error: so many seconds are beyond it.
[[noreturn]] void too_long(double seconds);

constexpr double seconds(Time time) { return static_cast<double>(time) * 1e-12; }
// So many picoseconds, without their fraction. Throws std::range_error for what is beyond `longest`, or no
// number.
inline Time whole(double picoseconds) {
    if (!(std::abs(picoseconds) <= static_cast<double>(longest))) [[unlikely]]
        too_long(picoseconds * 1e-12);
    return static_cast<Time>(picoseconds);
}
inline Time from_seconds(double value) { return whole(std::round(value * 1e12)); }

// How long `bytes` take at `rate` B/s, rounded to the next picosecond; nothing at an infinite rate.
inline Time transfer_time(std::int64_t bytes, double rate) {
    return whole(std::ceil(static_cast<double>(bytes) * (1e12 / rate)));
}

}  // namespace leadline::machine
