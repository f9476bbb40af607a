// How long does a halo exchange with four neighbours in a periodic 2-D grid take?
//
// The HALO benchmark's two-dimensional exchange for sub-domains of N x N numbers, the grid as square as the
// ranks allow, by every way that MPI has for it (Balaji et al., Blue Gene/P, 3.9).
#include "harness/benchmark.hpp"
#include "harness/sides.hpp"

namespace leadline {

BENCHMARK(halo, at_least(2), alike_in_grid(2), halo_ways(),
          counts("edge", powers(2, 1024), "numbers of 8 B along an edge of a rank's part: N of N x N"),
          metric("time", Unit::second, lower, largest, "time of one exchange on the slowest rank")) {
    return swap_sides(run, 2, 8 * run["edge"]);
}

}  // namespace leadline
