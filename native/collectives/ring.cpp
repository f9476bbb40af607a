// Ring: in every stage each rank passes a block to the next, once round to combine, once more to tell
// (Patarasuk and Yuan, Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations, 2009).
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::int32_t parts(const AlgorithmArguments& asked) { return asked.ranks; }

// Once round: rank r passes block r + `ahead` first, then the one before it.
void once_round(std::vector<Stage>& all, std::int32_t ranks, std::int32_t ahead, const Stage& like) {
    for (std::int32_t k = 0; k + 1 < ranks; ++k) {
        Stage stage = like;
        stage.pattern = Stage::Pattern::shift;
        stage.by = 1;
        // Little enough to be kept without memory of its own, however many stages there are.
        stage.carries = [ranks, behind = k - ahead](std::int32_t from) -> Blocks {
            return {modulo(static_cast<std::int64_t>(from) - behind, ranks)};
        };
        all.push_back(std::move(stage));
    }
}

std::vector<Stage> allgather_stages(const AlgorithmArguments& asked) {
    std::vector<Stage> all;
    once_round(all, asked.ranks, 0, {.bytes = asked.bytes});
    return all;
}

std::vector<Stage> allreduce_stages(const AlgorithmArguments& asked) {
    std::vector<Stage> all;
    const std::int64_t bytes = share(asked.bytes, asked.ranks, 1);
    once_round(all, asked.ranks, 0, {.bytes = bytes, .combines = true});
    once_round(all, asked.ranks, 1, {.bytes = bytes});
    return all;
}

const Entered allgather({"allgather", "ring", allgather_stages});
const Entered allreduce({"allreduce", "ring", allreduce_stages, parts});

}  // namespace
}  // namespace leadline::collectives
