// How much longer does a message take after a computation?
//
// Both ranks walk through memory of their own, so that code, queues and data of the last message leave the
// caches; then one message goes each way. Rank 0 begins a little later than it has walked, so that the other
// one waits. With nothing to walk through it is a ping-pong message by message.
#include "harness/benchmark.hpp"
#include "harness/walk.hpp"

namespace leadline {

BENCHMARK(cold, ranks(2), sizes("walked", {0, 1_MiB, 8_MiB, 64_MiB}, "memory that each rank walks through"),
          sizes("bytes", powers(1, 1_MiB), "message size"),
          metric("latency", Unit::second, lower, root, "half of the round trip that follows"),
          metric("computing", Unit::second, lower, root, "time of the walk, with the time that is added"),
          Sampling{.one_operation = true}) {
    constexpr double least = 5e-6;  // s, of what rank 0 adds, and of its walk this share
    constexpr double share = 0.1;
    Comm world = run.world();
    const Bytes memory = run.buffers(run["walked"])[0];
    const Bytes out = run.buffers(run["bytes"])[0];
    const Bytes in = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        const double begin = run.now();
        if (run["walked"] > 0) {
            auto walking = walk(run, memory);
            co_await walking;
        }
        const double walked = run.now() - begin;
        run.start();
        if (world.rank() == 0) {
            co_await run.busy(least + share * walked);
            const double computing = run.now() - begin;
            run.start();
            co_await world.send(out, 1);
            co_await world.recv(in, 1);
            run.stop();
            run.sample("latency", run.elapsed() / 2);
            run.sample("computing", computing);
        } else {
            co_await world.recv(in, 0);
            co_await world.send(out, 0);
            run.stop();
        }
    }
}

}  // namespace leadline
