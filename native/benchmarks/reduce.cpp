// How long does a reduction to one rank take as its operand grows?
//
// The result is that rank's alone; the others may be done as soon as their operands have left them.
#include "harness/collective.hpp"

namespace leadline {

BENCHMARK(reduce, at_least(2), communicators(), reductions(), types(), blocks("size of each rank's operand"),
          roots(), ways(Collective::reduce), times("reduction"), Sampling{.overlapping = true}) {
    return collective(run, {Collective::reduce, Held::block, Held::block});
}

}  // namespace leadline
