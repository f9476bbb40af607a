// Pairwise exchange: in stage i each rank deals with one other only, with the one whose number differs by the
// bits of i where the ranks are a power of two, else with those i before and behind it (Thakur, Rabenseifner
// and Gropp, Optimization of Collective Communication Operations in MPICH, 2005, 4.3).
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

Stage with_partner(std::int32_t ranks, std::int32_t i) {
    if (power_below(ranks) == ranks) return {.pattern = Stage::Pattern::exchange, .by = i, .ranks = ranks};
    return {.pattern = Stage::Pattern::shift, .by = i};
}

// To whom a rank sends in stage i, and from whom it receives.
std::int32_t receiver(std::int32_t rank, std::int32_t i, std::int32_t ranks) {
    return power_below(ranks) == ranks ? rank ^ i : modulo(static_cast<std::int64_t>(rank) + i, ranks);
}
std::int32_t sender(std::int32_t rank, std::int32_t i, std::int32_t ranks) {
    return power_below(ranks) == ranks ? rank ^ i : modulo(static_cast<std::int64_t>(rank) - i, ranks);
}

std::vector<Stage> alltoall_stages(const AlgorithmArguments& asked) {
    const std::int32_t ranks = asked.ranks;
    std::vector<Stage> all;
    all.push_back(own_block(asked));
    for (std::int32_t i = 1; i < ranks; ++i) {
        Stage stage = with_partner(ranks, i);
        stage.bytes = asked.bytes;
        stage.carries = [ranks, i](std::int32_t from) -> Blocks { return {receiver(from, i, ranks)}; };
        stage.lands = [ranks, i](std::int32_t to) -> Blocks { return {ranks + sender(to, i, ranks)}; };
        all.push_back(std::move(stage));
    }
    return all;
}

std::vector<Stage> reduce_scatter_stages(const AlgorithmArguments& asked) {
    const std::int32_t ranks = asked.ranks;
    std::vector<Stage> all;
    for (std::int32_t i = 1; i < ranks; ++i) {
        Stage stage = with_partner(ranks, i);
        stage.bytes = asked.bytes;
        stage.combines = true;
        stage.carries = [ranks, i](std::int32_t from) -> Blocks { return {receiver(from, i, ranks)}; };
        all.push_back(std::move(stage));
    }
    return all;
}

const Entered alltoall({"alltoall", "pairwise", alltoall_stages});
const Entered reduce_scatter({"reduce_scatter", "pairwise", reduce_scatter_stages});

}  // namespace
}  // namespace leadline::collectives
