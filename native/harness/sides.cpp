#include "harness/sides.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "harness/grids.hpp"
#include "harness/repeated.hpp"

namespace leadline {
namespace {

// A rank's neighbours, in each dimension the one below and then the one above, and a side for each in one
// piece of memory that leaves and one that arrives. What leaves towards one comes in from its opposite.
struct Sides {
    std::vector<int> peers;
    Bytes leaving;
    Bytes arriving;

    [[nodiscard]] std::size_t bytes() const { return leaving.size() / peers.size(); }
    [[nodiscard]] Bytes out(std::size_t side) const { return leaving.subspan(side * bytes(), bytes()); }
    [[nodiscard]] Bytes in(std::size_t side) const { return arriving.subspan(side * bytes(), bytes()); }
    [[nodiscard]] static std::size_t opposite(std::size_t side) { return side ^ 1U; }
};

Task<> by_sendrecv(Run& run, Comm& comm, const Sides& sides) {
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch())
            for (std::size_t side = 0; side < sides.peers.size(); ++side) {
                const std::size_t from = Sides::opposite(side);
                co_await comm.sendrecv(sides.out(side), sides.peers[side], sides.in(from), sides.peers[from],
                                       static_cast<int>(side));
            }
        run.stop();
        run.sample("time", run.each());
    }
}

Task<> by_requests(Run& run, Comm& comm, const Sides& sides) {
    const std::size_t count = sides.peers.size();
    std::vector<Comm::Request> requests(2 * count);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            for (std::size_t side = 0; side < count; ++side)
                requests[side] =
                    comm.irecv(sides.in(side), sides.peers[side], static_cast<int>(Sides::opposite(side)));
            for (std::size_t side = 0; side < count; ++side)
                requests[count + side] =
                    comm.isend(sides.out(side), sides.peers[side], static_cast<int>(side));
            co_await comm.wait_all(requests);
        }
        run.stop();
        run.sample("time", run.each());
    }
}

// Of what is made ready: persistent messages, or a collective of the neighbourhood.
template <class Operation, class Make>
Task<> repeated(Run& run, Make make) {
    return sampled<Operation>(run, make, [](Run& run) { run.sample("time", run.each()); });
}

Task<> by_persistent(Run& run, Comm& comm, const Sides& sides) {
    return repeated<
        Comm::Exchange>(run, [&comm, &sides](Run&, std::optional<Comm::Exchange>& made) -> Ready<> {
        std::vector<PersistentMessage> sends;
        std::vector<PersistentMessage> receives;
        for (std::size_t side = 0; side < sides.peers.size(); ++side) {
            sends.push_back({sides.out(side), sides.peers[side], static_cast<int>(side)});
            receives.push_back({sides.in(side), sides.peers[side], static_cast<int>(Sides::opposite(side))});
        }
        made.emplace(comm.prepare_exchange(sends, receives));
        return {};
    });
}

Task<> by_collective(Run& run, Comm& comm, const Sides& sides) {
    const Call call{.what = Collective::neighbor_alltoall, .out = sides.leaving, .in = sides.arriving};
    co_await repeated<Comm::Prepared>(run, [&](Run&, auto& made) { return make_ready(comm, call, made); });
}

// A rank is at most one exchange ahead of its neighbours, since it waits for their notices: two places for
// each side, in turns, keep it from writing over what is still in use.
Task<> by_puts(Run& run, Comm& comm, const Sides& sides) {
    Comm::Window window = co_await comm.window(2 * sides.arriving.size(), Exposure::allocated);
    const std::size_t count = sides.peers.size();
    std::int64_t done = 0;
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            const std::size_t half = (done % 2 == 0) ? 0 : sides.arriving.size();
            for (std::size_t side = 0; side < count; ++side) {
                const std::size_t place = half + Sides::opposite(side) * sides.bytes();
                co_await window.put(sides.out(side), sides.peers[side], place);
                co_await window.notify(sides.peers[side]);
            }
            ++done;
            co_await window.notified(done * static_cast<std::int64_t>(count));
        }
        run.stop();
        run.sample("time", run.each());
    }
    co_await window.free();
}

Task<> by_way(const std::string& way, Run& run, Comm& comm, const Sides& sides) {
    if (way == "sendrecv") return by_sendrecv(run, comm, sides);
    if (way == "persistent") return by_persistent(run, comm, sides);
    if (way == "one-sided") return by_puts(run, comm, sides);
    if (way == "collective") return by_collective(run, comm, sides);
    return by_requests(run, comm, sides);
}

}  // namespace

Sweep halo_ways() {
    return choice(
        "way", {"sendrecv", "nonblocking", "persistent", "one-sided", "collective"},
        "side by side; all at once; the same, made ready once; by puts with notification; in one call");
}

Task<> swap_sides(Run& run, int dimensions, std::int64_t bytes) {
    const auto& lengths = run.once([&] { return even_grid(run.ranks(), dimensions); });
    Comm comm = co_await run.world().cart(lengths, true);
    Sides sides;
    for (int dimension = 0; dimension < dimensions; ++dimension) {
        const auto [down, up] = comm.shift(dimension, 1);
        sides.peers.insert(sides.peers.end(), {down, up});
    }
    const std::int64_t all = bytes * 2 * dimensions;
    sides.leaving = run.buffers(all)[0];
    sides.arriving = run.buffers(all)[0];
    co_await by_way(run.word("way"), run, comm, sides);
}

}  // namespace leadline
