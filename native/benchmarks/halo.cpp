// How long does it take every rank to swap edges with its four neighbours in a periodic grid?
//
// The HALO benchmark's two-dimensional exchange: both receives and sends of all four directions at once, the
// grid as square as the ranks allow (Balaji et al., Blue Gene/P, 3.9).
#include <array>
#include <cmath>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

// The largest divisor of `ranks` that is not beyond its root: the rows of a grid as square as can be.
int rows_of(int ranks) {
    int rows = static_cast<int>(std::sqrt(ranks));
    while (ranks % rows != 0) --rows;
    return rows;
}

}  // namespace

BENCHMARK(halo, at_least(2), sizes("bytes", {8, 1024, 65536}, "size of each edge"),
          metric("time", Unit::second, lower, largest, "of one exchange, of the slowest rank")) {
    const int rows = rows_of(run.ranks());
    const std::array grid{rows, run.ranks() / rows};
    Comm world = co_await run.world().cart(grid, true);
    const auto [north, south] = world.shift(0, 1);
    const auto [west, east] = world.shift(1, 1);
    // What leaves towards one comes in from its opposite at the other end.
    const std::array peers{west, east, north, south};
    const Bytes edge = run.buffers(run["bytes"])[0];
    std::array<Comm::Request, 8> requests;
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            for (std::size_t k = 0; k < 4; ++k)
                requests[k] = world.irecv(edge, peers[k], static_cast<int>(k ^ 1U));
            for (std::size_t k = 0; k < 4; ++k)
                requests[k + 4] = world.isend(edge, peers[k], static_cast<int>(k));
            co_await world.wait_all(requests);
        }
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
