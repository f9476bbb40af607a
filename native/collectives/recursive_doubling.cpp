// Recursive doubling: in stage k every rank exchanges all it has with the one whose number differs in bit k.
// Ranks beyond the largest power of two first hand theirs to a partner and get the result back from it
// (Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, 2005, 4.2).
#include <bit>

#include "collectives/algorithm.hpp"

namespace leadline::collectives {
namespace {

std::vector<Stage> stages(int ranks, std::int64_t bytes, bool combines) {
    const auto power = static_cast<std::int32_t>(std::bit_floor(static_cast<unsigned>(ranks)));
    std::vector<Stage> all;
    Stage fold{.bytes = bytes, .combines = combines};
    Stage unfold{.bytes = bytes};
    for (std::int32_t extra = power; extra < ranks; ++extra) {
        fold.messages.push_back({extra, extra - power});
        unfold.messages.push_back({extra - power, extra});
    }
    if (power < ranks) all.push_back(fold);
    for (std::int32_t by = 1; by < power; by *= 2)
        all.push_back({.pattern = Stage::Pattern::exchange,
                       .by = by,
                       .ranks = power,
                       .bytes = bytes,
                       .combines = combines});
    if (power < ranks) all.push_back(unfold);
    return all;
}

const Entered allreduce({"allreduce", "recursive-doubling",
                         [](int ranks, int, std::int64_t bytes) { return stages(ranks, bytes, true); }});
const Entered barrier({"barrier", "recursive-doubling",
                       [](int ranks, int, std::int64_t) { return stages(ranks, 0, false); }});

}  // namespace
}  // namespace leadline::collectives
