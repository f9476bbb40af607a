// Neighbour exchange: ranks that stand side by side exchange two blocks in each stage, now with the one
// before, now with the one behind, so that half as many stages do as in a ring (Chen, Chen and Yuan,
// Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster with Fast Ethernet, 2005). An odd
// number of ranks goes round a ring.
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::vector<Stage> stages(const AlgorithmArguments& asked) {
    if (asked.ranks % 2 != 0) return find("allgather", "ring")->stages(asked);
    std::vector<Stage> all;
    all.push_back({.pattern = Stage::Pattern::exchange,
                   .by = 1,
                   .ranks = asked.ranks,
                   .bytes = asked.bytes,
                   .carries = [](std::int32_t from) -> Blocks { return {from}; }});
    const std::int32_t pairs = asked.ranks / 2;
    for (std::int32_t i = 1; i < pairs; ++i) {
        // The two blocks that came last: of pairs farther and farther away, on either side in turn.
        Stage stage{.bytes = 2 * asked.bytes, .carries = [pairs, i](std::int32_t from) {
                        const std::int32_t away = i % 2 == from % 2 ? -(i / 2) : i / 2;
                        const std::int64_t first = modulo(from / 2 + away, pairs);
                        return range(2 * first, 2, 2 * pairs);
                    }};
        if (i % 2 != 0) stage.rows = {{0, -1, pairs, 2, 2}, {-1, 0, pairs, 2, 2}};
        else stage.rows = {{0, 1, pairs, 2, 2}, {1, 0, pairs, 2, 2}};
        all.push_back(std::move(stage));
    }
    return all;
}

const Entered allgather({"allgather", "neighbor-exchange", stages});

}  // namespace
}  // namespace leadline::collectives
