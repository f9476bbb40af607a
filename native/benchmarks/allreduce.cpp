// How long does an allreduce take as its operand grows?
//
// Back to back the time is that of each rank calling again as it comes out (Balaji et al., Blue Gene/P,
// 3.8.3; Hofmann and Ruenger, Blue Gene/L, 5).
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(allreduce, at_least(2), all_alike(), communicators(), reductions(), types(),
          blocks("size of each rank's operand"), ways(Collective::allreduce), times("reduction")) {
    return collective(run, {Collective::allreduce, Held::block, Held::block});
}

}  // namespace leadline
