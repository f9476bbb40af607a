// Who has which part of the grid.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "applications/jacobi/field.hpp"

namespace leadline::jacobi {

// How the ranks stand, z, y, x: as "1d", "2d" or "3d" say, as evenly as can be, or as in "3x2x2". The number
// of ranks is not what such a word names: an empty list.
std::vector<int> standing(const std::string& word, int ranks);

constexpr int nobody = -1;

struct Division {
    Triple grid{};                              // points of the whole
    Triple from{};                              // where this rank's part begins
    Triple longest{};                           // of all parts, on each axis
    Subdomain part{};                           // its part
    std::array<std::array<int, 2>, 3> peers{};  // below and above on each axis; nobody where it ends
};

// The part of the rank at that place. Where lengths do not divide, the first parts are one longer.
Division divided(const Triple& grid, const std::vector<int>& ranks, int rank, Index depth, bool periodic);

// Why the grid cannot be divided so: a sentence, empty where it can. The same for all ranks.
std::string refusal(const Triple& grid, const std::vector<int>& ranks, Index depth, bool periodic);

}  // namespace leadline::jacobi
