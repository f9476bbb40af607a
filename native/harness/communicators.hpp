// The communicators that a collective can be asked of, under the names that points use for them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/run.hpp"

namespace leadline {

// Where the ranks of the world sit, by their numbers.
struct Whereabouts {
    int ranks = 0;
    std::vector<int> axes{};  // of the grid in which nodes stand; none: there is no such grid
    std::function<NodePlace(int rank)> placement{};
    std::function<std::vector<int>(int rank)> coordinates{};
};
Whereabouts whereabouts(const Comm& world);

// Who is in which of the communicators that a name stands for: one, or several at once.
struct Membership {
    static constexpr int nobody = -1;

    int communicators = 1;
    int size = 0;       // ranks of the smallest
    bool copy = false;  // the world's, but not the world itself
    std::vector<int>
        which{};  // the number of each rank's communicator; none: the first `size` ranks have one

    [[nodiscard]] int of(int rank) const {
        if (which.empty()) return rank < size ? 0 : nobody;
        return which[static_cast<std::size_t>(rank)];
    }
};

// "world", "dup", "world-1": all ranks, a copy of that, all but the last, which hardware made for all does
// not serve. "cores-K": the c-th ranks of all nodes for each c < K, at once. "line-N", "plane-AxB",
// "box-AxBxC": the ranks of so many nodes along the first axes of the machine's grid, from rank 0's on, and
// "line-full" and the like for whole axes. "scattered-N": ranks on N nodes, one each, that fill no box.
// Throws Skipped for what is none of these or does not fit.
Membership membership(const std::string& name, const Whereabouts& where);

// The sweep: what every machine has by default.
Sweep communicators();

// The point's communicators; the same on all ranks.
const Membership& members(Run& run);

// The one of them that this rank is in; for a rank that is in none, one of its own.
Task<Comm> communicator(Run& run, const Membership& members);

}  // namespace leadline
