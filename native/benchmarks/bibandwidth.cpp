// How many bytes can two ranks exchange in a second when both send at once?
//
// Both post a window of receives and of sends; the sum of both directions is reported (Balaji et al., Blue
// Gene/P, 3.1).
#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(bibandwidth, ranks(2), sizes("bytes", powers(1, 4_MiB), "message size"),
          counts("window", {64}, "concurrent sends in each direction"),
          metric("bandwidth", Unit::bytes_per_second, higher, root, "bytes a second, both directions")) {
    Comm& world = run.world();
    const int peer = 1 - world.rank();
    const Bytes out = run.buffers(run["bytes"])[0];
    const Bytes in = run.buffers(run["bytes"])[0];
    const auto window = static_cast<std::size_t>(run["window"]);
    std::vector<Comm::Request> requests(2 * window);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            for (std::size_t k = 0; k < window; ++k) requests[k] = world.irecv(in, peer);
            for (std::size_t k = window; k < 2 * window; ++k) requests[k] = world.isend(out, peer);
            co_await world.wait_all(requests);
        }
        run.stop();
        run.sample("bandwidth", static_cast<double>(2 * window * out.size()) / run.each());
    }
}

}  // namespace leadline
