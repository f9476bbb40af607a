// Recursive doubling: in stage k every rank exchanges all it has with the one whose number differs in bit k.
// Ranks beyond the largest power of two first hand theirs to a partner and get the result back from it
// (Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, 2005, 4.2).
// A scan tells the rank 2^k beyond instead (Kogge and Stone, A Parallel Algorithm for the Efficient Solution
// of a General Class of Recurrence Equations, 1973).
#include <algorithm>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::vector<Stage> allreduce_stages(const AlgorithmArguments& asked) {
    return doubling({.first = 0, .count = asked.ranks},
                    {.bytes = asked.bytes, .combines = true, .carries = whole});
}

std::vector<Stage> barrier_stages(const AlgorithmArguments& asked) {
    return doubling({.first = 0, .count = asked.ranks}, {});
}

std::vector<Stage> allgather_stages(const AlgorithmArguments& asked) {
    const std::int32_t ranks = asked.ranks;
    const std::int32_t power = power_below(ranks);
    const std::int32_t extra = ranks - power;
    const Members members{.first = 0, .count = ranks};
    std::vector<Stage> all =
        fold(members, {.bytes = asked.bytes, .carries = [](std::int32_t from) -> Blocks { return {from}; }});
    for (std::int32_t by = 1; by < power; by *= 2) {
        all.push_back({.pattern = Stage::Pattern::exchange,
                       .by = by,
                       .ranks = power,
                       .bytes = with_folded(0, by, extra) * asked.bytes,
                       .carries = [=](std::int32_t from) {
                           const std::int32_t first = from - from % by;
                           Blocks blocks = range(first, by, ranks);
                           for (std::int32_t each = first; each < std::min(first + by, extra); ++each)
                               blocks.push_back(power + each);
                           return blocks;
                       }});
        if (extra > 0)
            all.back().holds = [=](std::int32_t from) { return with_folded(from - from % by, by, extra); };
    }
    append(all, unfold(members, {.bytes = ranks * asked.bytes,
                                 .carries = [=](std::int32_t) { return range(0, ranks, ranks); }}));
    return all;
}

std::vector<Stage> scan_stages(const AlgorithmArguments& asked) {
    std::vector<Stage> all;
    const Members members{.first = 0, .count = asked.ranks};
    for (std::int32_t by = 1; by < asked.ranks; by *= 2)
        all.push_back({.bytes = asked.bytes,
                       .combines = true,
                       .rows = {between(members, 0, by, asked.ranks - by)},
                       .carries = whole});
    return all;
}

const Entered barrier({"barrier", "recursive-doubling", barrier_stages});
const Entered allreduce({"allreduce", "recursive-doubling", allreduce_stages});
const Entered allgather({"allgather", "recursive-doubling", allgather_stages});
const Entered scan({"scan", "recursive-doubling", scan_stages});

}  // namespace
}  // namespace leadline::collectives
