// How long does a worker wait for a master that serves many workers, directly or through a tree?
//
// Flat: every worker asks rank 0 and is answered. Tree: workers ask the head of their group of about
// sqrt(workers), which asks the master for the whole group (Balaji et al., Blue Gene/P, 3.6).
#include <cmath>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

// The workers 1 .. count in groups of `group`; the first of each is its head.
struct Tree {
    int count;
    int group;
    [[nodiscard]] int head(int worker) const { return 1 + (worker - 1) / group * group; }
    [[nodiscard]] int members(int head) const { return std::min(group, count - head + 1); }
    [[nodiscard]] int heads() const { return (count + group - 1) / group; }
};

Task<> serve(Comm& world, int askers, Bytes data, const Tree& tree) {
    for (int i = 0; i < askers; ++i) {
        const int asker = co_await world.recv_any(data);
        const auto share = data.size() / static_cast<std::size_t>(tree.group);
        co_await world.send(data.first(share * static_cast<std::size_t>(tree.members(asker))), asker);
    }
}

Task<> ask(Comm& world, Bytes data, const Tree& tree) {
    const int head = tree.head(world.rank());
    const auto share = data.size() / static_cast<std::size_t>(tree.group);
    const Bytes mine = data.first(share);
    if (world.rank() != head) {
        co_await world.send(mine, head);
        co_await world.recv(mine, head);
        co_return;
    }
    const int members = tree.members(head);
    const Bytes all = data.first(share * static_cast<std::size_t>(members));
    for (int i = 1; i < members; ++i) co_await world.recv(mine, head + i);
    co_await world.send(all, 0);
    co_await world.recv(all, 0);
    for (int i = 1; i < members; ++i) co_await world.send(mine, head + i);
}

}  // namespace

BENCHMARK(hotspot, at_least(2),
          counts("workers", "ranks that ask", [](const Scale& scale) { return powers(1, scale.ranks - 1); }),
          choice("shape", {"flat", "tree"}, "ask the master, or a group leader that asks for its group"),
          sizes("bytes", {8, 4096}, "size of a request and of its answer"),
          metric("latency", Unit::second, lower, mean, "half of a worker's round trip, mean over workers")) {
    Comm& world = run.world();
    const auto workers = static_cast<int>(run["workers"]);
    const bool flat = run.word("shape") == "flat";
    if (workers >= world.size())
        Run::skip(std::to_string(workers) + " workers and a master need " + std::to_string(workers + 1) +
                  " ranks");
    if (!flat && workers < 4) Run::skip("a tree of two levels needs at least 4 workers");
    const Tree tree{workers, flat ? 1 : static_cast<int>(std::ceil(std::sqrt(workers)))};
    const Bytes data = run.buffers(run["bytes"] * tree.group)[0];
    while (co_await run.next_sample()) {
        if (world.rank() > workers) continue;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() == 0) co_await serve(world, tree.heads(), data, tree);
            else co_await ask(world, data, tree);
        }
        run.stop();
        if (world.rank() > 0) run.sample("latency", run.each() / 2);
    }
}

}  // namespace leadline
