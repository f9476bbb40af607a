// What sequential sweeps give, in closed form.
//
// Waves along the axes are the eigenvectors of the mean of six neighbours: a sweep multiplies each by the
// mean of the cosines of its three wave numbers, however the grid is divided. A sum of a few is what the
// grid begins with, and so it is known what every point must hold after any number of sweeps.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "applications/jacobi/field.hpp"

namespace leadline::jacobi {

class Solution {
public:
    // Of the part of a grid of so many points that begins at `from`; `periodic`: the grid has no ends.
    Solution(const Triple& grid, const Triple& from, const Triple& lengths, bool periodic);

    // A row of the part after so many sweeps.
    void row(double sweeps, Index z, Index y, std::span<double> to) const;

    // By how much rounding may have moved a point after so many sweeps.
    [[nodiscard]] static double rounding(double sweeps);

private:
    struct Wave {
        double height = 0;
        double factor = 0;                           // of one sweep
        std::array<std::vector<double>, 3> along{};  // each axis, at the part's points
    };
    std::array<Wave, 3> waves_;
};

}  // namespace leadline::jacobi
