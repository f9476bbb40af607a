// Dissemination: in stage k every rank tells the one 2^k beyond it; after log2 of the ranks all know of all
// (Hensgen, Finkel and Manber, Two Algorithms for Barrier Synchronization, 1988).
#include "collectives/algorithm.hpp"

namespace leadline::collectives {
namespace {

std::vector<Stage> stages(const AlgorithmArguments& asked) {
    std::vector<Stage> all;
    for (std::int64_t by = 1; by < asked.ranks; by *= 2)
        all.push_back({.pattern = Stage::Pattern::shift, .by = static_cast<std::int32_t>(by)});
    return all;
}

const Entered barrier({"barrier", "dissemination", stages});

}  // namespace
}  // namespace leadline::collectives
