// How long does it take one rank to send a block to every rank?
//
// Blocks are told as equal (MPI_Scatter), or one by one (MPI_Scatterv), and may vary then.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(scatter, at_least(2), communicators(), variations(), blocks("size of each rank's block"), roots(),
          ways(Collective::scatter), times("scatter"), Sampling{.overlapping = true}) {
    return collective(run, {Collective::scatter, Held::blocks_at_root, Held::block});
}

}  // namespace leadline
