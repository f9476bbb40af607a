// How long does a prefix reduction over the ranks take as its operand grows?
//
// Each rank gets what it and all ranks before it come to.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(scan, at_least(2), communicators(), reductions(), types(), blocks("size of each rank's operand"),
          ways(Collective::scan), times("scan"), Sampling{.overlapping = true}) {
    return collective(run, {Collective::scan, Held::block, Held::block});
}

}  // namespace leadline
