// How long does a barrier take on the world, on a duplicate of it, and on parts of it?
//
// Back to back: as many as fill a sample, each rank calling again as it comes out (Balaji et al., Blue
// Gene/P, 3.8.1).
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(barrier, at_least(2), all_alike(), communicators(), ways(Collective::barrier), times("barrier")) {
    return collective(run, {Collective::barrier});
}

}  // namespace leadline
