// Linear: the root deals with one rank after another, and a scan goes from each rank to the next; the
// simplest there is, and what others must beat (Open MPI's `basic` component; Pjesivac-Grbovic and others,
// Performance Analysis of MPI Collective Operations, 2007).
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

// A stage for every rank but the root, whose message holds the rank's own block, or all there is.
enum class Holds { nothing, everything, block };

std::vector<Stage> one_by_one(const AlgorithmArguments& asked, bool to_root, Holds holds,
                              bool combines = false) {
    std::vector<Stage> all;
    all.reserve(static_cast<std::size_t>(asked.ranks));
    for (std::int32_t by = 1; by < asked.ranks; ++by) {
        const std::int32_t other = modulo(static_cast<std::int64_t>(asked.root) + by, asked.ranks);
        Stage stage{.bytes = holds == Holds::nothing ? 0 : asked.bytes, .combines = combines};
        stage.rows.push_back(to_root ? Row{.from = other, .to = asked.root}
                                     : Row{.from = asked.root, .to = other});
        if (holds == Holds::everything) stage.carries = whole;
        if (holds == Holds::block) stage.carries = [other](std::int32_t) -> Blocks { return {other}; };
        all.push_back(std::move(stage));
    }
    return all;
}

std::vector<Stage> barrier_stages(const AlgorithmArguments& given) {
    AlgorithmArguments asked = given;
    asked.root = 0;
    std::vector<Stage> all = one_by_one(asked, true, Holds::nothing);
    append(all, one_by_one(asked, false, Holds::nothing));
    return all;
}

std::vector<Stage> scan_stages(const AlgorithmArguments& asked) {
    std::vector<Stage> all;
    for (std::int32_t rank = 0; rank + 1 < asked.ranks; ++rank)
        all.push_back({.bytes = asked.bytes, .combines = true, .rows = {{rank, rank + 1}}, .carries = whole});
    return all;
}

const Entered barrier({"barrier", "linear", barrier_stages});
const Entered bcast({"bcast", "linear", [](const AlgorithmArguments& asked) {
                         return one_by_one(asked, false, Holds::everything);
                     }});
const Entered reduce({"reduce", "linear", [](const AlgorithmArguments& asked) {
                          return one_by_one(asked, true, Holds::everything, true);
                      }});
const Entered gather({"gather", "linear",
                      [](const AlgorithmArguments& asked) { return one_by_one(asked, true, Holds::block); }});
const Entered scatter({"scatter", "linear", [](const AlgorithmArguments& asked) {
                           return one_by_one(asked, false, Holds::block);
                       }});
const Entered alltoall({"alltoall", "linear", one_shift_after_another});
const Entered scan({"scan", "linear", scan_stages});

}  // namespace
}  // namespace leadline::collectives
