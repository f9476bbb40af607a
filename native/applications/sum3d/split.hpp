// How the elements of a three-dimensional array are dealt to the ranks of a grid.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/vocabulary.hpp"

namespace leadline::sum3d {

using Lengths = std::array<std::int64_t, 3>;

// Three lengths as they are written, "2400x100x100"; std::invalid_argument with a sentence for anything else.
Lengths lengths_of(const std::string& text);
std::int64_t elements(const Lengths& lengths);

// A rank's part of an array: where it begins and how far it reaches.
struct Box {
    Lengths from{};
    Lengths count{};
};
// Box of a rank: each axis is cut as evenly as can be, the longer parts first; the last axis of the grid
// changes fastest with the rank.
Box box_of(int rank, const Lengths& array, const Lengths& grid);

// Elements of each rank: as many as its box has, or, without regard to the grid, as even as can be.
std::vector<std::int64_t> loads(const Lengths& array, const Lengths& grid, bool by_grid);

// Boxes of one shape, which one scatterv or gatherv with one derived type serves, and which ranks have them.
struct Group {
    Shape shape;
    std::vector<Part> parts;
};
// At most eight, since each axis has parts of two lengths at most; in an order that is the same on all ranks.
std::vector<Group> groups(const Lengths& array, const Lengths& grid);

}  // namespace leadline::sum3d
