// How fast does a core combine two operands of a reduction?
//
// MPI_Reduce_local, by every rank on operands of its own: what a reduction's ranks do between its messages.
#include "harness/benchmark.hpp"
#include "harness/reductions.hpp"

namespace leadline {

BENCHMARK(combine, at_least(1), reductions(), types(),
          sizes("bytes", {1024, 8192, 65536, 262144}, "size of an operand"),
          metric("time", Unit::second, lower, mean, "time to combine two operands, mean over ranks")) {
    const Bytes in = run.buffers(run["bytes"])[0];
    const Bytes out = run.buffers(run["bytes"])[0];
    const Type type = number_type(run);
    const Reduce how = reduction(run);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await run.world().combine(in, out, type, how);
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
