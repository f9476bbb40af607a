// Bruck: as many stages as the ranks have bits, whatever their number; in stage k blocks travel 2^k ranks
// (Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient Algorithms for All-to-All Communications in Multiport
// Message-Passing Systems, 1997).
#include <algorithm>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

// Each rank has the blocks of those from itself on, twice as many after each stage.
std::vector<Stage> allgather_stages(const AlgorithmArguments& asked) {
    const std::int32_t ranks = asked.ranks;
    std::vector<Stage> all;
    for (std::int64_t by = 1; by < ranks; by *= 2) {
        const auto count = static_cast<std::int32_t>(std::min(by, ranks - by));
        all.push_back({.pattern = Stage::Pattern::shift,
                       .by = static_cast<std::int32_t>(-by),
                       .bytes = count * asked.bytes,
                       .carries = [=](std::int32_t from) { return range(from, count, ranks); }});
    }
    return all;
}

// The j-th block of the working memory goes j ranks on, by the powers of two that j is made of.
std::vector<Stage> alltoall_stages(const AlgorithmArguments& asked) {
    const std::int32_t ranks = asked.ranks;
    const Choose own = [=](std::int32_t) {
        Blocks all = range(0, ranks, ranks);
        for (auto& each : all) each += 2 * ranks;
        return all;
    };
    std::vector<Stage> all;
    all.push_back({.pattern = Stage::Pattern::local,
                   .bytes = ranks * asked.bytes,
                   .carries = [=](std::int32_t rank) { return range(rank, ranks, ranks); },
                   .lands = own});
    for (std::int64_t by = 1; by < ranks; by *= 2) {
        // Of each 2 * by blocks the second half.
        const std::int64_t count = ranks / (2 * by) * by + std::max<std::int64_t>(ranks % (2 * by) - by, 0);
        all.push_back({.pattern = Stage::Pattern::shift,
                       .by = static_cast<std::int32_t>(by),
                       .bytes = count * asked.bytes,
                       .carries = [=](std::int32_t) {
                           Blocks blocks;
                           for (std::int32_t j = 0; j < ranks; ++j)
                               if ((j & by) != 0) blocks.push_back(2 * ranks + j);
                           return blocks;
                       }});
    }
    all.push_back({.pattern = Stage::Pattern::local,
                   .bytes = ranks * asked.bytes,
                   .carries = own,
                   .lands = [=](std::int32_t rank) {
                       Blocks blocks(static_cast<std::size_t>(ranks));
                       for (std::int32_t j = 0; j < ranks; ++j)
                           blocks[static_cast<std::size_t>(j)] = ranks + modulo(rank - j, ranks);
                       return blocks;
                   }});
    return all;
}

const Entered allgather({"allgather", "bruck", allgather_stages});
const Entered alltoall({"alltoall", "bruck", alltoall_stages});

}  // namespace
}  // namespace leadline::collectives
