// What does a message of a rank to itself cost?
//
// Posted, sent and waited for by one rank, on all ranks at once: programs that treat all peers alike, such as
// transposes and periodic grids with one rank along an axis, send themselves a message like any other.
#include <array>

#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(own, at_least(1), sizes("bytes", powers(1, 4_MiB), "message size"),
          metric("time", Unit::second, lower, mean, "time of one message, from its receive's posting on")) {
    Comm& world = run.world();
    const Bytes out = run.buffers(run["bytes"])[0];
    const Bytes in = run.buffers(run["bytes"])[0];
    std::array<Comm::Request, 2> requests;
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            requests = {world.irecv(in, world.rank()), world.isend(out, world.rank())};
            co_await world.wait_all(requests);
        }
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
