#include "applications/jacobi/division.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "harness/grids.hpp"

namespace leadline::jacobi {
namespace {

std::string told(const std::vector<int>& ranks) {
    return std::to_string(ranks[0]) + "x" + std::to_string(ranks[1]) + "x" + std::to_string(ranks[2]);
}

}  // namespace

std::vector<int> standing(const std::string& word, int ranks) {
    if (word.size() == 2 && word[1] == 'd' && word[0] >= '1' && word[0] <= '3') {
        // The longest first: planes are what is cheapest to hand over.
        std::vector<int> lengths = even_grid(ranks, word[0] - '0');
        std::ranges::reverse(lengths);
        lengths.resize(3, 1);
        return lengths;
    }
    std::vector<int> lengths;
    const char* at = word.data();
    const char* end = at + word.size();
    while (at < end && lengths.size() < 3) {
        int length = 0;
        const auto read = std::from_chars(at, end, length);
        if (read.ec != std::errc() || length < 1) return {};
        lengths.push_back(length);
        at = read.ptr;
        if (at < end && *at++ != 'x') return {};
    }
    if (at != end || word.ends_with('x') || lengths.size() != 3 || ranks_of(lengths) != ranks) return {};
    return lengths;
}

Division divided(const Triple& grid, const std::vector<int>& ranks, int rank, Index depth, bool periodic) {
    Division made{.grid = grid};
    made.part.depth = depth;
    const std::vector<int> place = place_in(rank, ranks);
    const std::vector<int> around = grid_neighbours(rank, ranks);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const Index at = place[axis];
        const Index base = grid[axis] / ranks[axis];
        const Index longer = grid[axis] % ranks[axis];
        made.part.lengths[axis] = base + (at < longer ? 1 : 0);
        made.longest[axis] = base + (longer > 0 ? 1 : 0);
        made.from[axis] = at * base + std::min(at, longer);
        const std::array<bool, 2> goes_on{periodic || at > 0, periodic || at + 1 < ranks[axis]};
        made.part.goes_on[axis] = goes_on;
        for (std::size_t side = 0; side < 2; ++side)
            made.peers[axis][side] = goes_on[side] ? around[2 * axis + side] : nobody;
    }
    return made;
}

std::string refusal(const Triple& grid, const std::vector<int>& ranks, Index depth, bool periodic) {
    constexpr std::array<const char*, 3> names{"planes", "rows", "columns"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const Index least = grid[axis] / ranks[axis];
        const bool alone = ranks[axis] == 1 && !periodic;
        if (least >= (alone ? 1 : depth)) continue;
        std::string said = std::to_string(grid[axis]) + " " + names[axis] + " among " +
                           std::to_string(ranks[axis]) + " ranks (" + told(ranks) +
                           ") leave some rank fewer than the " + std::to_string(depth) +
                           " that its neighbour needs; ";
        return said + (depth > 1 ? "a smaller depth, a larger edge" : "a larger edge") +
               ", or a grid of more dimensions would do";
    }
    return {};
}

}  // namespace leadline::jacobi
