// How long does it take every rank to swap edges with its four neighbours in a periodic grid?
//
// The HALO benchmark's two-dimensional exchange for sub-domains of N x N numbers, the grid as square as the
// ranks allow, by every way that MPI has for it (Balaji et al., Blue Gene/P, 3.9).
#include "harness/benchmark.hpp"
#include "harness/sides.hpp"

namespace leadline {

BENCHMARK(halo, at_least(2), halo_ways(),
          counts("edge", powers(2, 1024), "numbers of 8 B along an edge of a rank's part: N of N x N"),
          metric("time", Unit::second, lower, largest, "of one exchange, of the slowest rank")) {
    return swap_sides(run, 2, 8 * run["edge"]);
}

}  // namespace leadline
