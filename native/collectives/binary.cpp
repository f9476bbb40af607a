// Pipelined binary tree: every rank passes each segment on to two others as soon as it has it, so that the
// time is that of the segments and not of segments times levels (Traff and Ripke, Optimal Broadcast for Fully
// Connected Networks, 2005, which improves on it; Pjesivac-Grbovic and others, Performance Analysis of MPI
// Collective Operations, 2007, as here).
#include <algorithm>
#include <bit>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::int32_t parts(const AlgorithmArguments& asked) { return segments(asked.bytes); }

// Counted from the root, the children of place i are 2 i + 1 and 2 i + 2. Level l passes segment s on in
// stage 2 (s + l) to the first and in the next to the second.
std::vector<Stage> stages(const AlgorithmArguments& asked) {
    const std::int32_t count = parts(asked);
    const std::int32_t ranks = asked.ranks;
    const std::int32_t root = asked.root;
    const std::int32_t levels =
        static_cast<std::int32_t>(std::bit_width(static_cast<unsigned>(ranks))) - 1;  // that have children
    std::vector<Stage> all;
    for (std::int32_t t = 0; t < 2 * (count + levels - 1) && levels > 0; ++t) {
        const std::int32_t beat = t / 2;
        const std::int32_t child = 1 + t % 2;
        Stage stage{.bytes = share(asked.bytes, count, 1), .carries = [=](std::int32_t from) -> Blocks {
                        const auto place = static_cast<unsigned>(modulo(from - root, ranks));
                        return {beat - static_cast<std::int32_t>(std::bit_width(place + 1)) + 1};
                    }};
        for (std::int32_t level = std::max(0, beat - count + 1); level <= std::min(beat, levels - 1);
             ++level) {
            const std::int32_t first = (1 << level) - 1;
            const std::int32_t parents = std::min(1 << level, (ranks - 1 - child) / 2 + 1 - first);
            if (2 * first + child < ranks)
                stage.rows.push_back({.from = root + first,
                                      .to = root + 2 * first + child,
                                      .count = parents,
                                      .from_step = 1,
                                      .to_step = 2});
        }
        if (!stage.rows.empty()) all.push_back(std::move(stage));
    }
    return all;
}

const Entered bcast({"bcast", "binary", stages, parts});

}  // namespace
}  // namespace leadline::collectives
