// How long does a broadcast take as it grows?
//
// Back to back from one rank to all others of its communicator (Balaji et al., Blue Gene/P, 3.8.2; Hofmann
// and Ruenger, Blue Gene/L, 5).
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(bcast, at_least(2), communicators(), blocks("message size"), roots(), ways(Collective::bcast),
          times("broadcast"), Sampling{.overlapping = true}) {
    return collective(run, {Collective::bcast, Held::nothing, Held::block});
}

}  // namespace leadline
