// Pipelined chain: the message goes from each rank to the next in segments, so that all links are busy at
// once; after ranks + segments - 2 stages the last has all of it (Watts and van de Geijn, A Pipelined
// Broadcast for Multidimensional Meshes, 1995).
#include <algorithm>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::int32_t parts(const AlgorithmArguments& asked) { return segments(asked.bytes); }

std::vector<Stage> stages(const AlgorithmArguments& asked) {
    const std::int32_t count = parts(asked);
    const std::int32_t ranks = asked.ranks;
    const Members members{.first = asked.root, .count = ranks};
    std::vector<Stage> all;
    // In stage t the i-th rank from the root passes on segment t - i.
    for (std::int32_t t = 0; t < ranks + count - 2 && ranks > 1; ++t) {
        const std::int32_t first = std::max(0, t - count + 1);
        const std::int32_t last = std::min(t, ranks - 2);
        all.push_back({.bytes = share(asked.bytes, count, 1),
                       .rows = {between(members, first, 1, last - first + 1)},
                       .carries = [ranks, root = asked.root, t](std::int32_t from) -> Blocks {
                           return {t - modulo(from - root, ranks)};
                       }});
    }
    return all;
}

const Entered bcast({"bcast", "chain", stages, parts});

}  // namespace
}  // namespace leadline::collectives
