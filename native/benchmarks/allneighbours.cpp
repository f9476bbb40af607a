// How much data can all nodes exchange with their nearest neighbours at the same time?
//
// Ranks stand in the grid of the machine's nodes, or in one of three dimensions; where the mapping keeps them
// there neighbours are one hop apart, and a random one draws them asunder. Messages are equal, or vary
// between half the size and one and a half (Hofmann and Ruenger, Blue Gene/L, 6).
#include <algorithm>
#include <cstddef>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/blocks.hpp"
#include "harness/grids.hpp"
#include "harness/nodes.hpp"
#include "harness/repeated.hpp"

namespace leadline {
namespace {

struct Message {
    int peer;
    Bytes data;
};

// A rank's messages in each direction that its grid has: what leaves, and what comes from the other side.
class Directions {
public:
    Directions(Run& run, const std::vector<int>& lengths) {
        const int ranks = ranks_of(lengths);
        const int first = run.rank() / ranks * ranks;  // of the ranks that share this one's place on nodes
        const auto here = static_cast<std::size_t>(run.rank());
        const auto at = place_in(run.rank() - first, lengths);
        const auto near = grid_neighbours(run.rank() - first, lengths);
        std::vector<std::int64_t> sizes;
        for (std::size_t side = 0; side < near.size(); ++side) {
            if (lengths[side / 2] == 1) continue;
            const int from = first + near[side ^ 1U];
            out.push_back({first + near[side], {}});
            in.push_back({from, {}});
            even.push_back(at[side / 2] % 2 == 0);
            sizes.push_back(size(run, here * near.size() + side));
            sizes.push_back(size(run, static_cast<std::size_t>(from) * near.size() + side));
        }
        // One piece of memory each way, in which messages lie by ascending peers.
        leaving = lay(run, out, sizes, 0, gives);
        arriving = lay(run, in, sizes, 1, takes);
    }

    [[nodiscard]] std::size_t count() const { return out.size(); }
    [[nodiscard]] double bytes() const { return static_cast<double>(leaving.size() + arriving.size()); }

    std::vector<Message> out;
    std::vector<Message> in;
    std::vector<bool> even;  // whether this rank's place along the direction is
    Bytes leaving;
    Bytes arriving;
    std::vector<Part> gives;
    std::vector<Part> takes;

private:
    static std::int64_t size(const Run& run, std::size_t message) {
        return run.word("variation") == "varying" ? varied(run["bytes"], message) : run["bytes"];
    }

    static Bytes lay(Run& run, std::vector<Message>& messages, const std::vector<std::int64_t>& sizes,
                     std::size_t which, std::vector<Part>& parts) {
        std::vector<std::size_t> order(messages.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return messages[i].peer; });
        std::int64_t all = 0;
        for (const std::size_t i : order) all += sizes[2 * i + which];
        const Bytes memory = run.buffers(all)[0];
        std::int64_t offset = 0;
        for (const std::size_t i : order) {
            const std::int64_t bytes = sizes[2 * i + which];
            messages[i].data =
                memory.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(bytes));
            // Two messages for the same rank, along an axis of two, are one part.
            if (!parts.empty() && parts.back().peer == messages[i].peer) parts.back().bytes += bytes;
            else parts.push_back({messages[i].peer, bytes, offset});
            offset += bytes;
        }
        return memory;
    }
};

// In turn: along each direction the ranks in even places send first.
Task<> blocking(Comm& world, const Directions& directions) {
    for (std::size_t i = 0; i < directions.count(); ++i) {
        const auto& [to, leaving] = directions.out[i];
        const auto& [from, arriving] = directions.in[i];
        const int tag = static_cast<int>(i);
        if (directions.even[i]) co_await world.send(leaving, to, tag);
        co_await world.recv(arriving, from, tag);
        if (!directions.even[i]) co_await world.send(leaving, to, tag);
    }
}

Task<> sendrecv(Comm& world, const Directions& directions) {
    for (std::size_t i = 0; i < directions.count(); ++i) {
        const auto& [to, leaving] = directions.out[i];
        const auto& [from, arriving] = directions.in[i];
        co_await world.sendrecv(leaving, to, arriving, from, static_cast<int>(i));
    }
}

Task<> nonblocking(Comm& world, const Directions& directions, std::vector<Comm::Request>& requests) {
    requests.clear();
    for (std::size_t i = 0; i < directions.count(); ++i)
        requests.push_back(world.irecv(directions.in[i].data, directions.in[i].peer, static_cast<int>(i)));
    for (std::size_t i = 0; i < directions.count(); ++i)
        requests.push_back(world.isend(directions.out[i].data, directions.out[i].peer, static_cast<int>(i)));
    co_await world.wait_all(requests);
}

Task<> collective(Run& run, const Directions& directions, double on_node) {
    const Call call{.what = Collective::alltoall,
                    .out = directions.leaving,
                    .in = directions.arriving,
                    .gives = directions.gives,
                    .takes = directions.takes};
    const double bytes = on_node * directions.bytes();
    co_await sampled<Comm::Prepared>(
        run, [&](Run& run, auto& made) { return make_ready(run.world(), call, made); },
        [bytes](Run& run) { run.sample("bandwidth", bytes / run.each()); });
}

}  // namespace

BENCHMARK(allneighbours, at_least(2),
          choice("way", {"blocking", "nonblocking", "sendrecv", "collective"},
                 "one after the other; all at once; both ways in each direction in turn; alltoallv"),
          choice("variation", {"equal", "varying"}, "equal messages, or of 0.5 to 1.5 of the size"),
          sizes("bytes", {65536, 1_MiB}, "message size, or its mean"),
          metric("bandwidth", Unit::bytes_per_second, higher, Over::mean,
                 "bytes a second out of and into a node, mean over nodes")) {
    Comm& world = run.world();
    const auto& lengths = run.once([&] { return neighbour_grid(whereabouts(run.world())); });
    const auto& on_node = run.once([&] { return ranks_per_node(whereabouts(run.world())); });
    const std::string& way = run.word("way");
    const Directions directions(run, lengths);
    std::vector<Comm::Request> requests;
    if (way == "collective") {
        co_await collective(run, directions, on_node);
        co_return;
    }
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (way == "blocking") co_await blocking(world, directions);
            else if (way == "sendrecv") co_await sendrecv(world, directions);
            else co_await nonblocking(world, directions, requests);
        }
        run.stop();
        run.sample("bandwidth", on_node * directions.bytes() / run.each());
    }
}

}  // namespace leadline
