// What does 1 MB cost in messages of each size: where do packets and protocols change?
//
// A train of blocking sends, ended by an empty answer, scaled to 1 MB (10^6 B); with the plan's `protocol`
// the eager or the rendezvous way is forced where the library lets one (Hofmann and Ruenger, Blue Gene/L, 4).
#include <algorithm>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

constexpr std::int64_t megabyte = 1'000'000;

// Fine steps over the first packets, doubled sizes beyond.
std::vector<std::int64_t> packet_sizes() {
    std::vector<std::int64_t> all = powers(1, 8);
    for (std::int64_t size = 16; size <= 2000; size += 16) all.push_back(size);
    for (const std::int64_t size : powers(2048, 1_MiB)) all.push_back(size);
    return all;
}

}  // namespace

BENCHMARK(protocol, ranks(2), sizes("bytes", packet_sizes(), "size of each message"),
          metric("time", Unit::second, lower, root,
                 "time of 1 MB in messages of this size, from trains of at most 256")) {
    Comm& world = run.world();
    const Bytes data = run.buffers(run["bytes"])[0];
    const std::int64_t size = std::max<std::int64_t>(run["bytes"], 1);
    // Enough messages that the answer is small beside the train, few enough that a sample stays short.
    const std::int64_t train = std::clamp<std::int64_t>(megabyte / size, 1, 256);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() == 0) {
                for (std::int64_t k = 0; k < train; ++k) co_await world.send(data, 1);
                co_await world.recv({}, 1, 1);
            } else {
                for (std::int64_t k = 0; k < train; ++k) co_await world.recv(data, 0);
                co_await world.send({}, 0, 1);
            }
        }
        run.stop();
        run.sample("time", run.each() * static_cast<double>(megabyte) / static_cast<double>(train * size));
    }
}

}  // namespace leadline
