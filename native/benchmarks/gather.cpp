// How long does it take one rank to collect a block from every rank?
//
// Blocks are told as equal (MPI_Gather), or one by one (MPI_Gatherv), and may vary then.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(gather, at_least(2), communicators(), variations(), blocks("size of each rank's block"), roots(),
          ways(Collective::gather), times("gather"), Sampling{.overlapping = true}) {
    return collective(run, {Collective::gather, Held::block, Held::blocks_at_root});
}

}  // namespace leadline
