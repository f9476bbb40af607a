// The exchange of a halo: every rank of a periodic grid swaps sides with its neighbours.
#pragma once

#include <cstdint>

#include "harness/run.hpp"

namespace leadline {

// The sweep.
Sweep halo_ways();

// The whole of a benchmark's body, in a grid of so many dimensions that is as even as the ranks allow, with
// sides of so many bytes; gives `time`.
Task<> swap_sides(Run& run, int dimensions, std::int64_t bytes);

}  // namespace leadline
