// Medians and their intervals, as far as stopping needs them; every published statistic is derived later from
// the recorded samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace leadline {

struct Median {
    double value;
    double low;   // 95 % interval by order statistics;
    double high;  // -inf and +inf while there are too few samples for one

    // Half the width of the interval, relative to the median.
    [[nodiscard]] double relative() const { return (high - low) / 2 / std::abs(value); }
};

// The median of `samples` with its non-parametric interval: the order statistics that the binomial
// distribution B(n, 1/2) leaves outside with at most 5 % (normal approximation; exact to one rank for n >=
// 6).
inline Median median(std::vector<double> samples) {
    const auto n = samples.size();
    constexpr double none = std::numeric_limits<double>::infinity();
    if (n == 0) return {0, -none, none};
    std::ranges::sort(samples);
    const double middle = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    const double cut = std::floor((static_cast<double>(n) - 1.96 * std::sqrt(static_cast<double>(n))) / 2);
    if (n < 6 || cut < 0) return {middle, -none, none};
    const auto k = static_cast<std::size_t>(cut);
    return {middle, samples[k], samples[n - 1 - k]};
}

}  // namespace leadline
