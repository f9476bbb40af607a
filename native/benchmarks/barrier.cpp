// How long does a barrier take, on the world, on a copy of it, and on all of it but one?
//
// Back to back: as many as fill a sample, each rank calling again as it comes out (Balaji et al., Blue
// Gene/P, 3.8.1).
#include "harness/benchmark.hpp"
#include "harness/communicators.hpp"

namespace leadline {

BENCHMARK(barrier, at_least(2), choice("communicator", communicators, "which ranks take part"),
          metric("time", Unit::second, lower, largest, "of one barrier, of the slowest rank")) {
    Comm comm = co_await communicator(run);
    const bool inside = takes_part(run);
    while (co_await run.next_sample()) {
        if (!inside) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await comm.barrier();
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
