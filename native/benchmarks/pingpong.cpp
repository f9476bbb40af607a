// How long does one message take, by size, with buffers in cache and out of cache?
//
// One-way time is half of a round trip; buffers are one that is reused, or as many as leave the cache before
// one comes round again (Balaji et al., Blue Gene/P, 3.1; ORFEO report, section 2).
#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(
    pingpong, ranks(2), sizes("bytes", powers(0, 4_MiB), "message size"),
    choice("buffers", {"reused", "rotated"},
           "one buffer again and again, or many in turn, of twice the last-level cache but at most 64 MiB"),
    metric("latency", Unit::second, lower, root, "half of one round trip")) {
    // A copy, and a loop a rank: with both, a message costs within 1 % of what it costs in plain C
    // (docs/benchmarks.md).
    Comm world = run.world();
    const Buffers out = run.buffers(run["bytes"], run.word("buffers"));
    const Buffers in = run.buffers(run["bytes"], run.word("buffers"));
    while (co_await run.next_sample()) {
        run.start();
        if (world.rank() == 0)
            for (auto i : run.batch()) {
                co_await world.send(out[i], 1);
                co_await world.recv(in[i], 1);
            }
        else
            for (auto i : run.batch()) {
                co_await world.recv(in[i], 0);
                co_await world.send(out[i], 0);
            }
        run.stop();
        run.sample("latency", run.each() / 2);
    }
}

}  // namespace leadline
