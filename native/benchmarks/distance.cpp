// How do latency and bandwidth depend on the number of hops?
//
// A ping-pong between rank 0 and the first rank at each distance: 0 the same core group, 1 another group of
// the package, 2 another package of the node, and 2 + h a node h hops away, 3 where the machine tells no hops
// (Balaji et al., Blue Gene/P, 3.3; Hofmann and Ruenger, Blue Gene/L, 4).
#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {
namespace {

std::string name(std::int64_t distance) {
    switch (distance) {
        case same_group: return "the same core group";
        case same_package: return "another core group of the same package";
        case same_node: return "another package of the same node";
        default: return "another node";
    }
}

// Within a node, then 1, 2, 4, ... hops up to the farthest.
std::vector<std::int64_t> distances(const Scale& scale) {
    std::vector<std::int64_t> all = counting(same_group, other_node);
    for (int hops = 2; hops < scale.hops; hops *= 2) all.push_back(same_node + hops);
    if (scale.hops > 1) all.push_back(same_node + scale.hops);
    return all;
}

// The first rank at a distance from rank 0; none: the number of ranks.
int first_at(const Comm& world, std::int64_t distance) {
    int peer = 1;
    while (peer < world.size() && world.distance(0, peer) != distance) ++peer;
    return peer;
}

}  // namespace

BENCHMARK(distance, at_least(2),
          counts("distance", "0 core group, 1 package, 2 node, then 2 + hops", distances),
          sizes("bytes", {0, 1024, 1_MiB}, "message size"),
          metric("latency", Unit::second, lower, root, "half of one round trip"),
          metric("bandwidth", Unit::bytes_per_second, higher, root,
                 "message size divided by the one-way time")) {
    Comm& world = run.world();
    const int peer = run.once([&] { return first_at(world, run["distance"]); });
    if (peer == world.size())
        Run::skip("no rank is at distance " + std::to_string(run["distance"]) + " (" + name(run["distance"]) +
                  ") from rank 0");
    const Bytes data = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        co_await pingpong_sample(run, {0, peer}, data);
        run.sample("latency", run.each() / 2);
        if (!data.empty()) run.sample("bandwidth", static_cast<double>(data.size()) / (run.each() / 2));
    }
}

}  // namespace leadline
