// How long does a reduction take whose result is distributed in blocks over the ranks?
//
// Blocks are equal (MPI_Reduce_scatter_block), or told one by one (MPI_Reduce_scatter), and may vary then.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(reduce_scatter, at_least(2), all_alike(), communicators(), reductions(), types(), variations(),
          blocks("size of the block that each rank gets"), ways(Collective::reduce_scatter),
          times("reduction")) {
    return collective(run, {Collective::reduce_scatter, Held::blocks, Held::block});
}

}  // namespace leadline
