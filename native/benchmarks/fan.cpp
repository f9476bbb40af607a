// How much can one rank send to, receive from, or exchange with its nearest neighbours at once?
//
// Rank 0 in the middle, windows of non-blocking operations with its 1 .. 6 nearest ranks, those on other
// nodes where there are any (Balaji et al., Blue Gene/P, 3.7).
#include <algorithm>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

std::vector<int> nearest(const Comm& world, std::size_t count) {
    std::vector<std::pair<int, int>> near;  // distance, rank
    for (int rank = 1; rank < world.size(); ++rank) near.emplace_back(world.distance(0, rank), rank);
    std::ranges::sort(near);
    const auto remote = std::ranges::find_if(near, [](const auto& each) { return each.first >= other_node; });
    if (remote != near.end()) near.erase(near.begin(), remote);
    std::vector<int> ranks;
    for (std::size_t i = 0; i < std::min(count, near.size()); ++i) ranks.push_back(near[i].second);
    return ranks;
}

}  // namespace

BENCHMARK(fan, at_least(2), choice("direction", {"in", "out", "both"}, "what rank 0 does"),
          counts("neighbours", "ranks around rank 0",
                 [](const Scale& scale) { return counting(1, std::min(6, scale.ranks - 1)); }),
          sizes("bytes", {65536, 1_MiB}, "message size"),
          counts("window", {16}, "concurrent messages with each neighbour"),
          metric("bandwidth", Unit::bytes_per_second, higher, root, "bytes a second through rank 0")) {
    Comm& world = run.world();
    const bool in = run.word("direction") != "out";
    const bool out = run.word("direction") != "in";
    std::vector<int> peers =
        run.once([&] { return nearest(world, static_cast<std::size_t>(run["neighbours"])); });
    if (peers.size() < static_cast<std::size_t>(run["neighbours"]))
        Run::skip("rank 0 has only " + std::to_string(peers.size()) + " neighbours");
    const bool middle = world.rank() == 0;
    if (!middle) peers = std::ranges::count(peers, world.rank()) ? std::vector{0} : std::vector<int>{};
    const auto window = static_cast<std::size_t>(run["window"]);
    const Bytes arriving = run.buffers(run["bytes"])[0];
    const Bytes leaving = run.buffers(run["bytes"])[0];
    std::vector<Comm::Request> requests;
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            requests.clear();
            for (const int peer : peers)
                for (std::size_t k = 0; k < window; ++k) {
                    if (middle ? in : out) requests.push_back(world.irecv(arriving, peer));
                    if (middle ? out : in) requests.push_back(world.isend(leaving, peer));
                }
            co_await world.wait_all(requests);
            // An empty answer the other way: the middle's time covers arrival, and nobody runs ahead.
            for (const int peer : peers) {
                if (middle == out) co_await world.recv({}, peer, 1);
                else co_await world.send({}, peer, 1);
            }
        }
        run.stop();
        const auto ways = static_cast<double>(in) + static_cast<double>(out);
        run.sample("bandwidth",
                   ways * static_cast<double>(peers.size() * window * arriving.size()) / run.each());
    }
}

}  // namespace leadline
