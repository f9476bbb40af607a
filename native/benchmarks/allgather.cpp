// How long does it take every rank to receive a block from every other rank?
//
// What arrives grows with the ranks (Balaji et al., Blue Gene/P, 3.8.3). Blocks are told as equal, or one by
// one (MPI_Allgatherv), and may vary then.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(allgather, at_least(2), all_alike(), communicators(), variations(),
          blocks("size of each rank's block"), ways(Collective::allgather), times("allgather")) {
    return collective(run, {Collective::allgather, Held::block, Held::blocks});
}

}  // namespace leadline
