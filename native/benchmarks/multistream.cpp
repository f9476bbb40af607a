// Do several pairs between the same two nodes move more data than one pair?
//
// Where the ranks are on several nodes, the i-th rank of rank 0's node streams to the i-th rank of the
// others; on one node rank i of the first half streams to rank i of the second (Balaji et al., Blue
// Gene/P, 3.5).
#include <algorithm>

#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {
namespace {

// The pairs there are: between rank 0's node and the nearest other one if the ranks are on several.
std::vector<Pair> pairs_of(const Comm& world) {
    std::vector<int> here{0};
    std::vector<int> there;
    int nearest = 0;  // distance of the ranks that are there
    for (int rank = 1; rank < world.size(); ++rank) {
        const int distance = world.distance(0, rank);
        if (distance < other_node) {
            here.push_back(rank);
        } else if (there.empty() || distance < nearest) {
            there = {rank};
            nearest = distance;
        } else if (world.distance(there.front(), rank) < other_node) {
            there.push_back(rank);
        }
    }
    if (there.empty()) {
        const auto half = static_cast<std::ptrdiff_t>(here.size() / 2);
        there.assign(here.begin() + half, here.end());
        here.resize(here.size() / 2);
    }
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i)
        pairs.push_back({here[i], there[i]});
    return pairs;
}

}  // namespace

BENCHMARK(multistream, at_least(2),
          counts("pairs", "pairs at once",
                 [](const Scale& scale) {
                     return powers(1, scale.per_node < scale.ranks ? scale.per_node : scale.ranks / 2);
                 }),
          sizes("bytes", powers(64, 1_MiB), "message size"),
          counts("window", {16}, "concurrent sends of each pair"),
          metric("bandwidth", Unit::bytes_per_second, higher, smallest, "bytes a second sent by all pairs")) {
    Comm& world = run.world();
    const auto& pairs = run.once([&] { return pairs_of(world); });
    const auto wanted = static_cast<std::size_t>(run["pairs"]);
    if (wanted > pairs.size())
        Run::skip(std::to_string(wanted) + " pairs at once, but the ranks make " +
                  std::to_string(pairs.size()));
    const auto mine = std::ranges::find_if(
        pairs, [&](const Pair& pair) { return world.rank() == pair.from || world.rank() == pair.to; });
    const bool active = mine != pairs.end() && mine - pairs.begin() < run["pairs"];
    Stream stream(run, active ? *mine : Pair{-1, -1}, run["bytes"], run["window"]);
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
