// Recursive halving: in each stage a rank gives the half of what it still has that concerns the ranks on the
// other side, and combines what it is given of its own half. Ranks beyond the largest power of two hand all
// to a partner first (Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in
// MPICH, 2005, 4.4).
#include <algorithm>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::vector<Stage> stages(const AlgorithmArguments& asked) {
    const std::int32_t ranks = asked.ranks;
    const std::int32_t power = power_below(ranks);
    const std::int32_t extra = ranks - power;
    const Members members{.first = 0, .count = ranks};
    std::vector<Stage> all =
        fold(members, {.bytes = ranks * asked.bytes, .combines = true, .carries = [=](std::int32_t) {
                           return range(0, ranks, ranks);
                       }});
    for (std::int32_t by = power / 2; by > 0; by /= 2) {
        all.push_back({.pattern = Stage::Pattern::exchange,
                       .by = by,
                       .ranks = power,
                       .bytes = with_folded(0, by, extra) * asked.bytes,
                       .combines = true,
                       .carries = [=](std::int32_t from) {
                           const std::int32_t other = from ^ by;
                           const std::int32_t first = other - other % by;
                           Blocks blocks = range(first, by, ranks);
                           for (std::int32_t each = first; each < std::min(first + by, extra); ++each)
                               blocks.push_back(power + each);
                           return blocks;
                       }});
        if (extra > 0)
            all.back().holds = [=](std::int32_t from) {
                const std::int32_t other = from ^ by;
                return with_folded(other - other % by, by, extra);
            };
    }
    append(all, unfold(members, {.bytes = asked.bytes,
                                 .carries = [=](std::int32_t from) -> Blocks { return {from + power}; }}));
    return all;
}

const Entered reduce_scatter({"reduce_scatter", "recursive-halving", stages});

}  // namespace
}  // namespace leadline::collectives
