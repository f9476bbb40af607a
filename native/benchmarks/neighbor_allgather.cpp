// How long does it take every rank to send one block to all its neighbours in a grid?
//
// One call for what a halo exchange says message by message; the grid is periodic and as even as the ranks
// allow.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(neighbor_allgather, at_least(2), alike_in_grid("dimensions"), communicators(), dimensions(),
          blocks("size of the block"), ways(Collective::neighbor_allgather), times("exchange")) {
    return collective(run, {Collective::neighbor_allgather, Held::block, Held::neighbours});
}

}  // namespace leadline
