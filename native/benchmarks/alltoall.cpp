// How long does it take every rank to send a different block to every other rank?
//
// Blocks are told as equal, or one by one (MPI_Alltoallv), and may vary then: what a rank gives another is as
// much as it gets from there.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(alltoall, at_least(2), all_alike(), communicators(), variations(),
          blocks("size of a block of one rank for another"), ways(Collective::alltoall), times("exchange")) {
    return collective(run, {Collective::alltoall, Held::blocks, Held::blocks});
}

}  // namespace leadline
