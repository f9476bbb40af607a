// Times that know of which of the machine's constants they are the sum.
//
// On the LogGP network each time is a sum of the machine's constants, and where two are compared the later
// one goes on. So what a time is made of is also its derivative: so many picoseconds of it are of latency,
// and if latency took twice as long, the time would be so much later, as long as nobody else comes first
// because of it. One simulation with such times gives the derivative of the run time by every kind of
// constant; it is what forward differentiation is, and what is differentiated is the simulator itself.
// Where two times are equal the one that is kept says what it is made of, one of several derivatives.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>

namespace leadline::machine {

// Of which kind a constant is. `messages` counts, of what each message between nodes takes once.
enum class TimePart : std::uint8_t { latency, bandwidth, overhead, computation, messages };
inline constexpr std::size_t parts = 5;

template <class N>
concept Factor = std::is_arithmetic_v<N>;

// Picoseconds and their parts are one array: what is added up in vectors is then stored in the vectors in
// which it is copied, and a processor that forwards stores to loads does so only where one covers the other.
class Time {
public:
    constexpr Time() = default;
    template <std::integral N>
    constexpr Time(N picoseconds) {  // NOLINT(*-explicit-*)
        all_[0] = static_cast<std::int64_t>(picoseconds);
    }
    constexpr explicit Time(double picoseconds) { all_[0] = static_cast<std::int64_t>(picoseconds); }
    constexpr explicit operator double() const { return static_cast<double>(all_[0]); }

    [[nodiscard]] constexpr std::int64_t ps() const { return all_[0]; }
    // ps, of messages their number.
    [[nodiscard]] constexpr std::int64_t of(std::size_t part) const { return all_[1 + part]; }
    constexpr void set(std::size_t part, std::int64_t value) { all_[1 + part] = value; }

    constexpr Time& operator+=(const Time& other) {
        for (std::size_t i = 0; i < all_.size(); ++i) all_[i] += other.all_[i];
        return *this;
    }
    constexpr Time& operator-=(const Time& other) {
        for (std::size_t i = 0; i < all_.size(); ++i) all_[i] -= other.all_[i];
        return *this;
    }
    friend constexpr Time operator+(Time a, const Time& b) { return a += b; }
    friend constexpr Time operator-(Time a, const Time& b) { return a -= b; }
    template <std::integral N>
    friend constexpr Time operator*(Time a, N factor) {
        for (auto& each : a.all_) each *= factor;
        return a;
    }
    template <std::integral N>
    friend constexpr Time operator*(N factor, const Time& a) {
        return a * factor;
    }
    template <std::integral N>
    friend constexpr Time operator/(Time a, N divisor) {
        for (auto& each : a.all_) each /= divisor;
        return a;
    }
    friend constexpr bool operator==(const Time& a, const Time& b) { return a.ps() == b.ps(); }
    friend constexpr std::strong_ordering operator<=>(const Time& a, const Time& b) {
        return a.ps() <=> b.ps();
    }

private:
    std::array<std::int64_t, parts + 1> all_{};
};

// A number of bytes a second, and whether what it makes of bytes is of the bandwidth.
struct Rate {
    double value = 0;
    bool bandwidth = false;

    constexpr Rate() = default;
    template <Factor N>
    constexpr Rate(N rate) : value(static_cast<double>(rate)) {}  // NOLINT(*-explicit-*)
    constexpr operator double() const { return value; }           // NOLINT(*-explicit-*)
    template <Factor N>
    friend constexpr Rate operator*(Rate rate, N factor) {
        rate.value *= factor;
        return rate;
    }
    template <Factor N>
    friend constexpr Rate operator*(N factor, Rate rate) {
        return rate * factor;
    }
    template <Factor N>
    friend constexpr Rate operator/(Rate rate, N divisor) {
        rate.value /= divisor;
        return rate;
    }
};

constexpr std::int64_t picoseconds(const Time& time) { return time.ps(); }
constexpr void mark(Time& time, TimePart part) {
    time.set(static_cast<std::size_t>(part), part == TimePart::messages ? 1 : time.ps());
}
constexpr void mark(Rate& rate) { rate.bandwidth = true; }
constexpr Time with_parts_of(Time time, const Time& other, double factor) {
    for (std::size_t i = 0; i < parts; ++i)
        time.set(i, static_cast<std::int64_t>(factor * static_cast<double>(other.of(i))));
    return time;
}
constexpr Time with_parts(Time time, Rate rate) {
    if (rate.bandwidth) mark(time, TimePart::bandwidth);
    return time;
}

}  // namespace leadline::machine
