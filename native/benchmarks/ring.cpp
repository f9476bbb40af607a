// How long does a message take once round all ranks?
//
// Every rank passes on what it gets from the one before it; all messages are under way at once, one each way
// (ORFEO report, section 1).
#include <array>

#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(ring, at_least(2), sizes("bytes", {8, 1024, 65536}, "message size"),
          metric("time", Unit::second, lower, largest, "until every rank's own messages are home again")) {
    Comm& world = run.world();
    const int left = (run.rank() + run.ranks() - 1) % run.ranks();
    const int right = (run.rank() + 1) % run.ranks();
    const Buffers buffers = run.buffers(run["bytes"], 4);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch())
            for (int step = 0; step < run.ranks(); ++step) {
                std::array requests{world.irecv(buffers[0], left, 0), world.irecv(buffers[1], right, 1),
                                    world.isend(buffers[2], right, 0), world.isend(buffers[3], left, 1)};
                co_await world.wait_all(requests);
            }
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
