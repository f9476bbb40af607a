#include "applications/ft/random.hpp"

#include <array>
#include <cstddef>

namespace leadline::ft {
namespace {

constexpr std::uint64_t multiplier = 1'220'703'125;  // 5^13
constexpr std::uint64_t seed = 314'159'265;
constexpr std::uint64_t mask = (std::uint64_t{1} << 46U) - 1;
constexpr double scale = 1.0 / (std::uint64_t{1} << 46U);

// Unsigned products wrap modulo 2^64, of which 2^46 is a divisor.
constexpr std::uint64_t power(std::uint64_t base, std::int64_t exponent) {
    std::uint64_t result = 1;
    for (; exponent > 0; exponent /= 2) {
        if (exponent % 2 != 0) result = result * base & mask;
        base = base * base & mask;
    }
    return result;
}

// As many sequences side by side as hide the latency of a multiplication.
constexpr std::size_t lanes = 8;
constexpr std::uint64_t leap = power(multiplier, lanes);

}  // namespace

Sequence::Sequence(std::int64_t skipped) : state_(power(multiplier, skipped) * seed & mask) {}

void Sequence::fill(Complex* to, std::int64_t count) {
    auto* out = reinterpret_cast<double*>(to);  // [complex.numbers]: an array of two doubles each
    const auto all = static_cast<std::size_t>(2 * count);
    std::array<std::uint64_t, lanes> x{};
    x[0] = state_ * multiplier & mask;
    for (std::size_t lane = 1; lane < lanes; ++lane) x[lane] = x[lane - 1] * multiplier & mask;
    std::size_t k = 0;
    for (; k + lanes <= all; k += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            out[k + lane] = static_cast<double>(static_cast<std::int64_t>(x[lane])) * scale;
            state_ = x[lane];
            x[lane] = x[lane] * leap & mask;
        }
    for (; k < all; ++k) {
        state_ = state_ * multiplier & mask;
        out[k] = static_cast<double>(static_cast<std::int64_t>(state_)) * scale;
    }
}

void fill_abreast(const std::array<std::int64_t, 4>& starts, std::int64_t stride, std::int64_t count,
                  Complex* to) {
    auto* out = reinterpret_cast<double*>(to);  // [complex.numbers]: an array of two doubles each
    const std::uint64_t stride_factor = power(multiplier, stride);
    std::array<std::uint64_t, 8> x{};
    for (std::size_t k = 0; k < starts.size(); ++k) {
        x[2 * k] = power(multiplier, starts[k] + 1) * seed & mask;
        x[2 * k + 1] = x[2 * k] * multiplier & mask;
    }
    for (std::int64_t i = 0; i < count; ++i)
        for (auto& number : x) {
            *out++ = static_cast<double>(static_cast<std::int64_t>(number)) * scale;
            number = number * stride_factor & mask;
        }
}

}  // namespace leadline::ft
