// A machine's nodes and the ranks on them, as benchmarks of neighbours see them.
#pragma once

#include <vector>

#include "harness/communicators.hpp"

namespace leadline {

// The first ranks of the nodes next to rank 0's, below and above it along each axis of the machine's grid, in
// ascending order. On a machine without a grid those next to rank 0 where ranks are thought to stand in one
// of three dimensions.
std::vector<int> next_to_root(const Whereabouts& where);

// The grid of ranks in which each has its neighbours: that of the machine's nodes, the first axis fastest, as
// often as there are ranks on a node; without one, or where ranks do not fill it, one of three dimensions.
std::vector<int> neighbour_grid(const Whereabouts& where);

// How many ranks a node has, in the mean.
double ranks_per_node(const Whereabouts& where);

}  // namespace leadline
