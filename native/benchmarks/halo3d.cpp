// How long does a halo exchange with six neighbours in a periodic 3-D grid take?
//
// The exchange of `halo` for sub-domains of N x N x N numbers, the grid as near to a cube as the ranks allow.
#include "harness/benchmark.hpp"
#include "harness/sides.hpp"

namespace leadline {

BENCHMARK(halo3d, at_least(2), alike_in_grid(3), halo_ways(),
          counts("edge", {4, 16, 64, 256}, "elements of 8 B along an edge of a rank's part: N of N x N x N"),
          metric("time", Unit::second, lower, largest, "time of one exchange on the slowest rank")) {
    return swap_sides(run, 3, 8 * run["edge"] * run["edge"]);
}

}  // namespace leadline
