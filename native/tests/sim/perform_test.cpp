// A collective that ranks do by messages takes as long as the same stages computed at once.
#include "harness/perform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

Call call_of(const std::string& operation, int ranks, Bytes one, Bytes all) {
    const auto share = static_cast<std::size_t>(ranks);
    const Bytes block = one.first(one.size() / share);
    if (operation == "barrier") return {.what = Collective::barrier};
    if (operation == "bcast") return {.what = Collective::bcast, .in = one};
    if (operation == "reduce") return {.what = Collective::reduce, .out = one, .in = all};
    if (operation == "allreduce") return {.what = Collective::allreduce, .out = one, .in = all};
    if (operation == "scan") return {.what = Collective::scan, .out = one, .in = all};
    if (operation == "gather") return {.what = Collective::gather, .out = block, .in = all};
    if (operation == "scatter") return {.what = Collective::scatter, .out = all, .in = block};
    if (operation == "allgather") return {.what = Collective::allgather, .out = block, .in = all};
    if (operation == "alltoall") return {.what = Collective::alltoall, .out = one, .in = all};
    return {.what = Collective::reduce_scatter, .out = one, .in = block};
}

// When every rank ends, ranks beginning one after the other.
std::vector<double> ends(const collectives::Algorithm& algorithm, int ranks, std::size_t bytes,
                         bool at_once) {
    std::vector<double> all(static_cast<std::size_t>(ranks));
    play(on(ranks), [&](Comm world, Control control) -> Task<> {
        std::vector<std::byte> one(bytes);
        std::vector<std::byte> other(bytes);
        Call call = call_of(algorithm.operation, ranks, one, other);
        call.algorithm = algorithm.name;
        P2PCollective performed = co_await P2PCollective::prepare(world, call);
        co_await control.align();
        const double begin = control.now();
        co_await control.busy(1e-7 * world.rank());
        if (at_once) co_await world.collective(call);
        else co_await performed.begin();
        all[static_cast<std::size_t>(world.rank())] = control.now() - begin;
        co_await performed.free();
    });
    return all;
}

TEST(Perform, TakesAsLongAsItsStagesAtOnce) {
    for (const auto& algorithm : collectives::algorithms())
        for (const int ranks : {2, 4, 8, 16})
            for (const std::size_t bytes : {128U, 1U << 20U}) {
                // Long messages one after another from one rank, or to one: they wait for each other's links,
                // which stages that are computed one by one do not see. No idle network.
                if (algorithm.name == "linear" && bytes > 128) continue;
                const auto stages = ends(algorithm, ranks, bytes, true);
                const auto messages = ends(algorithm, ranks, bytes, false);
                const double longest = *std::ranges::max_element(stages);
                const double takes = *std::ranges::max_element(messages);
                EXPECT_NEAR(takes, longest, 0.02 * longest) << algorithm.operation << ' ' << algorithm.name
                                                            << " of " << ranks << ", " << bytes << " B";
            }
}

}  // namespace
}  // namespace leadline
