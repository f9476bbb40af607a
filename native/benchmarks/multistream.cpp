// Do several pairs between the same two nodes move more than one pair does?
//
// Rank i of the first half streams to rank i of the second half, for the first 1, 2, ... pairs; put the
// halves on two nodes with the plan's placement (Balaji et al., Blue Gene/P, 3.5).
#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {

BENCHMARK(multistream, at_least(2),
          counts("pairs", "pairs at once", [](int ranks) { return powers(1, ranks / 2); }),
          sizes("bytes", powers(64, 1_MiB), "message size"),
          counts("window", {16}, "sends under way at once, each pair"),
          metric("bandwidth", Unit::bytes_per_second, higher, smallest, "bytes all pairs send, a second")) {
    Comm& world = run.world();
    const int half = world.size() / 2;
    if (run["pairs"] > half)
        Run::skip(std::to_string(run["pairs"]) + " pairs need " + std::to_string(2 * run["pairs"]) +
                  " ranks");
    const int place = world.rank() % half;
    Stream stream(run, {place, place + half}, run["bytes"], run["window"]);
    const bool active = place < run["pairs"] && world.rank() < 2 * half;
    while (co_await run.next_sample()) {
        if (!active) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await stream.window();
        run.stop();
        // Every pair counts with the time of the slowest.
        run.sample("bandwidth", static_cast<double>(run["pairs"]) * stream.bytes() / run.each());
    }
}

}  // namespace leadline
