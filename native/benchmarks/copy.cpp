// How fast does a core copy within its memory?
//
// Every rank from one buffer of its own to another: what it does in a collective whose result is not where
// its own part is.
#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(copy, at_least(1), sizes("bytes", {1024, 8192, 65536, 262144}, "size of a buffer"),
          metric("time", Unit::second, lower, mean, "time of one copy, mean over ranks")) {
    const Bytes in = run.buffers(run["bytes"])[0];
    const Bytes out = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await run.world().copy(in, out);
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
