// How long does a broadcast take as it grows?
//
// Back to back from rank 0; the time is the slowest rank's (Balaji et al., Blue Gene/P, 3.8.2; Hofmann and
// Ruenger, Blue Gene/L, 5).
#include "harness/benchmark.hpp"
#include "harness/communicators.hpp"

namespace leadline {

BENCHMARK(bcast, at_least(2), choice("communicator", communicators, "which ranks take part"),
          sizes("bytes", powers(8, 1_MiB), "message size"),
          metric("time", Unit::second, lower, largest, "of one broadcast, of the slowest rank")) {
    Comm comm = co_await communicator(run);
    const bool inside = takes_part(run);
    const Bytes data = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        if (!inside) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await comm.bcast(data, 0);
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
