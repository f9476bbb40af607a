// Grids of ranks, the last dimension fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace leadline {

// The lengths of a grid of so many ranks, as near to a square or a cube as can be, the shortest first.
inline std::vector<int> even_grid(int ranks, int dimensions) {
    if (dimensions <= 1) return {ranks};
    std::vector<int> best;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (int first = 1; first <= ranks; ++first) {
        std::int64_t power = 1;
        for (int each = 0; each < dimensions; ++each) power *= first;
        if (power > ranks) break;  // the shortest is no longer than the root
        if (ranks % first != 0) continue;
        std::vector<int> lengths = even_grid(ranks / first, dimensions - 1);
        lengths.insert(lengths.begin(), first);
        const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        if (lengths[1] < first || sum > least) continue;
        least = sum;
        best = std::move(lengths);
    }
    return best;
}

inline int ranks_of(const std::vector<int>& lengths) {
    return std::accumulate(lengths.begin(), lengths.end(), 1, std::multiplies<>());
}

// Where a rank stands in a grid.
inline std::vector<int> place_in(int rank, const std::vector<int>& lengths) {
    std::vector<int> place(lengths.size());
    for (std::size_t axis = lengths.size(); axis-- > 0; rank /= lengths[axis])
        place[axis] = rank % lengths[axis];
    return place;
}

// In each dimension of a periodic grid the rank below, then the one above.
inline std::vector<int> grid_neighbours(int rank, const std::vector<int>& lengths) {
    std::vector<int> found(2 * lengths.size());
    int stride = 1;
    for (std::size_t axis = lengths.size(); axis-- > 0; stride *= lengths[axis]) {
        const int length = lengths[axis];
        const int at = rank / stride % length;
        found[2 * axis] = rank + ((at + length - 1) % length - at) * stride;
        found[2 * axis + 1] = rank + ((at + 1) % length - at) * stride;
    }
    return found;
}

}  // namespace leadline
