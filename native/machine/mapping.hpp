// Which rank sits where: a thing apart from the topology and from the program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace leadline::machine {

struct Placement {
    std::int32_t node = 0;
    std::int32_t core = 0;  // the rank's number on its node
};

// The placements of `ranks` ranks with `per_node` on a node. `how` is
//   an axis order such as "XYZT" or "TXYZ": the first letter varies fastest, T is the core of a node; letters
//     are those of the topology's axes in order (X, Y, Z, then A, B, ... for more); where there is one axis
//     only, "XT" fills nodes first and "TX" cores first, and any order of more letters is refused;
//   "blocked": a node's cores first, then the nodes along the axes in their order, as "TXYZ" has it;
//   "tiled:AxBxC": a tile of A x B x C nodes after the other along the axes in their order, "blocked" within;
//     a tile has a length for each axis, which divides it;
//   "random:SEED": all placements in an order that the seed decides, the same everywhere;
//   "file:PATH": a line a rank, "x y z t".
// Throws std::invalid_argument with one sentence: an unknown letter, a placement named twice (with its line),
// a coordinate beyond the machine, more ranks than placements, a file that ends too early or cannot be read.
std::vector<Placement> make_mapping(const std::string& how, const Topology& topology, int per_node,
                                    int ranks);

}  // namespace leadline::machine
