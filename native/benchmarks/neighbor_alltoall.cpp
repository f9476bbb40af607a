// How long does it take every rank to send a different block to each of its neighbours in a grid?
//
// One call for what a halo exchange says message by message; the grid is periodic and as even as the ranks
// allow.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(neighbor_alltoall, at_least(2), alike_in_grid("dimensions"), communicators(), dimensions(),
          blocks("size of each neighbour's block"), ways(Collective::neighbor_alltoall), times("exchange")) {
    return collective(run, {Collective::neighbor_alltoall, Held::neighbours, Held::neighbours});
}

}  // namespace leadline
