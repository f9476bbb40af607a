#include "applications/jacobi/solution.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace leadline::jacobi {
namespace {

// Long waves, which last, and a short one, which tells points apart.
constexpr std::array<std::array<Index, 3>, 3> numbers{{{1, 1, 1}, {2, 3, 1}, {7, 5, 6}}};
constexpr std::array<double, 3> heights{1.0, 0.5, 0.25};

}  // namespace

Solution::Solution(const Triple& grid, const Triple& from, const Triple& lengths, bool periodic) {
    for (std::size_t each = 0; each < waves_.size(); ++each) {
        Wave& wave = waves_[each];
        wave.height = heights[each];
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto points = static_cast<double>(grid[axis]);
            const auto number = static_cast<double>(std::min(numbers[each][axis], grid[axis]));
            const double angle = number * std::numbers::pi * (periodic ? 2 / points : 1 / (points + 1));
            wave.factor += std::cos(angle) / 3;
            for (Index i = 0; i < lengths[axis]; ++i) {
                const auto at = static_cast<double>(from[axis] + i);
                wave.along[axis].push_back(periodic ? std::cos(angle * at + 0.3)
                                                    : std::sin(angle * (at + 1)));
            }
        }
    }
}

void Solution::row(double sweeps, Index z, Index y, std::span<double> to) const {
    std::array<double, 3> heights_now{};
    for (std::size_t each = 0; each < waves_.size(); ++each) {
        const Wave& wave = waves_[each];
        heights_now[each] = wave.height * std::pow(wave.factor, sweeps) *
                            wave.along[0][static_cast<std::size_t>(z)] *
                            wave.along[1][static_cast<std::size_t>(y)];
    }
    for (std::size_t x = 0; x < to.size(); ++x)
        to[x] = heights_now[0] * waves_[0].along[2][x] + heights_now[1] * waves_[1].along[2][x] +
                heights_now[2] * waves_[2].along[2][x];
}

// Each sweep rounds six times and makes no error larger; the closed form's powers lose as much.
double Solution::rounding(double sweeps) {
    return std::numeric_limits<double>::epsilon() * 16 * (sweeps + 16);
}

}  // namespace leadline::jacobi
