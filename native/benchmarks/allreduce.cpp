// How long does a sum over all ranks take as it grows?
//
// Back to back, 8 B numbers; the time is the slowest rank's (Balaji et al., Blue Gene/P, 3.8.3; Hofmann and
// Ruenger, Blue Gene/L, 5).
#include "harness/benchmark.hpp"
#include "harness/communicators.hpp"

namespace leadline {

BENCHMARK(allreduce, at_least(2), choice("communicator", communicators, "which ranks take part"),
          choice("type", {"double", "int64"}, "what is summed"),
          sizes("bytes", powers(8, 1_MiB), "size of each rank's operand"),
          metric("time", Unit::second, lower, largest, "of one reduction, of the slowest rank")) {
    Comm comm = co_await communicator(run);
    const bool inside = takes_part(run);
    if (run["bytes"] % 8 != 0)
        Run::skip("a sum of 8 B numbers has no " + std::to_string(run["bytes"]) + " B");
    const Type type = run.word("type") == "double" ? Type::float64 : Type::int64;
    const Bytes in = run.buffers(run["bytes"])[0];
    const Bytes out = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        if (!inside) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await comm.allreduce(in, out, type, Reduce::sum);
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
