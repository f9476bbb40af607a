#include "harness/nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "harness/grids.hpp"

namespace leadline {
namespace {

constexpr int thought = 3;  // dimensions of a grid of ranks where nodes have none

// Each of these ranks once but for `self`, in ascending order.
std::vector<int> distinct(std::vector<int> ranks, int self) {
    std::ranges::sort(ranks);
    const auto repeated = std::ranges::unique(ranks);
    ranks.erase(repeated.begin(), repeated.end());
    std::erase(ranks, self);
    return ranks;
}

}  // namespace

std::vector<int> next_to_root(const Whereabouts& where) {
    if (where.axes.empty()) return distinct(grid_neighbours(0, even_grid(where.ranks, thought)), 0);
    constexpr int nobody = -1;
    const std::vector<int> corner = where.coordinates(0);
    std::vector<int> ranks(2 * where.axes.size(), nobody);
    for (int rank = 1; rank < where.ranks; ++rank) {
        if (where.placement(rank).core != 0) continue;
        const std::vector<int> at = where.coordinates(rank);
        for (std::size_t axis = 0; axis < where.axes.size(); ++axis)
            for (const bool up : {false, true}) {
                std::vector<int> next = corner;
                next[axis] = (corner[axis] + (up ? 1 : where.axes[axis] - 1)) % where.axes[axis];
                if (next == at) ranks[2 * axis + (up ? 1 : 0)] = rank;
            }
    }
    std::erase(ranks, nobody);
    return distinct(std::move(ranks), 0);
}

std::vector<int> neighbour_grid(const Whereabouts& where) {
    std::vector<int> lengths(where.axes.rbegin(), where.axes.rend());
    if (lengths.empty() || where.ranks % ranks_of(lengths) != 0) return even_grid(where.ranks, thought);
    return lengths;
}

double ranks_per_node(const Whereabouts& where) {
    int nodes = 0;
    for (int rank = 0; rank < where.ranks; ++rank)
        if (where.placement(rank).core == 0) ++nodes;
    return static_cast<double>(where.ranks) / nodes;
}

}  // namespace leadline
