// How many bytes, and how many messages, can one rank send to another in a second?
//
// A window of non-blocking sends, ended by an empty answer of the receiver (Balaji et al., Blue Gene/P, 3.1).
#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(bandwidth, ranks(2), sizes("bytes", powers(1, 4_MiB), "message size"),
          counts("window", {64}, "concurrent sends"),
          metric("bandwidth", Unit::bytes_per_second, higher, root, "bytes sent a second"),
          metric("message_rate", Unit::per_second, higher, root, "messages sent a second")) {
    Comm& world = run.world();
    const Bytes data = run.buffers(run["bytes"])[0];
    std::vector<Comm::Request> requests(static_cast<std::size_t>(run["window"]));
    const auto messages = static_cast<double>(requests.size());
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() == 0) {
                for (auto& request : requests) request = world.isend(data, 1);
                co_await world.wait_all(requests);
                co_await world.recv({}, 1, 1);
            } else {
                for (auto& request : requests) request = world.irecv(data, 0);
                co_await world.wait_all(requests);
                co_await world.send({}, 0, 1);
            }
        }
        run.stop();
        run.sample("bandwidth", messages * static_cast<double>(data.size()) / run.each());
        run.sample("message_rate", messages / run.each());
    }
}

}  // namespace leadline
