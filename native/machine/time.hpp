// Simulated time: whole picoseconds, so that a run is the same to the bit wherever it is computed.
//
// Compiled with LEADLINE_PARTS a time also knows of which of the machine's constants it is the sum
// (time_in_parts.hpp): whoever adds up, multiplies and compares times need not know.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#ifdef LEADLINE_PARTS
#include "machine/time_in_parts.hpp"
#endif

namespace leadline::machine {

#ifndef LEADLINE_PARTS
using Time = std::int64_t;  // ps; 2^63 ps are 106 days
using Rate = double;        // B/s

// What times are made of, where they know it.
enum class TimePart : std::uint8_t { latency, bandwidth, overhead, computation, messages };

constexpr std::int64_t picoseconds(Time time) { return time; }
constexpr void mark(const Time&, TimePart) {}  // it is such a part
constexpr void mark(const Rate&) {}            // what it takes is of the bandwidth
constexpr Time with_parts(Time time, Rate) { return time; }
constexpr Time with_parts_of(Time time, Time, double) { return time; }
#endif

inline constexpr Time never = std::numeric_limits<std::int64_t>::max();

// No clock goes beyond this, and nothing takes longer: sums of a few of them are still numbers. 26 days.
inline constexpr Time longest = std::int64_t{1} << 61;
// Throws std::range_error: so many seconds are beyond it.
[[noreturn]] void too_long(double seconds);

constexpr double seconds(Time time) { return static_cast<double>(picoseconds(time)) * 1e-12; }
// So many picoseconds, without their fraction. Throws std::range_error for what is beyond `longest`, or no
// number.
inline Time whole(double picoseconds) {
    if (!(std::abs(picoseconds) <= static_cast<double>(longest))) [[unlikely]]
        too_long(picoseconds * 1e-12);
    return static_cast<Time>(static_cast<std::int64_t>(picoseconds));
}
// A time so many times as long, rounded down.
inline Time scaled(Time time, double factor) {
    return with_parts_of(whole(factor * static_cast<double>(picoseconds(time))), time, factor);
}
inline Time from_seconds(double value) { return whole(std::round(value * 1e12)); }

// How long `bytes` take at `rate` B/s, rounded to the next picosecond; nothing at an infinite rate.
inline Time transfer_time(std::int64_t bytes, Rate rate) {
    return with_parts(whole(std::ceil(static_cast<double>(bytes) * (1e12 / rate))), rate);
}

}  // namespace leadline::machine
