// Scatter and all-gather: a broadcast that gives each rank one part first, down a binomial tree, and then
// brings the parts together, in exchanges where ranks are a power of two or very many, else round a ring
// (Barnett, Gupta, Payne, Shuler, van de Geijn and Watts, Interprocessor Collective Communication Library,
// 1994; Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH,
// 2005, 4.2).
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

// A ring has as many stages as ranks.
bool in_a_ring(const AlgorithmArguments& asked) {
    constexpr std::int64_t long_message = 524'288;
    constexpr std::int32_t many = 1024;
    return asked.ranks <= many && (asked.bytes >= long_message || power_below(asked.ranks) != asked.ranks);
}

std::int32_t parts(const AlgorithmArguments& asked) {
    return in_a_ring(asked) ? asked.ranks : power_below(asked.ranks);
}

std::vector<Stage> stages(const AlgorithmArguments& asked) {
    const std::int32_t count = parts(asked);
    const std::int32_t ranks = asked.ranks;
    const std::int32_t root = asked.root;
    const Members members{.first = root, .count = count};
    std::vector<Stage> all = blocks_down(members, asked, asked.bytes, 0);
    if (in_a_ring(asked)) {
        for (std::int32_t k = 0; k + 1 < ranks; ++k)
            all.push_back({.pattern = Stage::Pattern::shift,
                           .by = 1,
                           .bytes = share(asked.bytes, count, 1),
                           .carries = [=](std::int32_t from) -> Blocks {
                               return {modulo(static_cast<std::int64_t>(from) - root - k, ranks)};
                           }});
        return all;
    }
    for (std::int32_t by = 1; by < count; by *= 2)
        all.push_back({.pattern = Stage::Pattern::exchange,
                       .by = by,
                       .ranks = count,
                       .first = root,
                       .bytes = share(asked.bytes, count, by),
                       .carries = [=](std::int32_t from) {
                           const std::int32_t place = modulo(from - root, ranks);
                           return range(place - place % by, by, count);
                       }});
    append(all, unfold({.first = root, .count = ranks}, {.bytes = asked.bytes, .carries = [=](std::int32_t) {
                                                             return range(0, count, count);
                                                         }}));
    return all;
}

const Entered bcast({"bcast", "scatter-allgather", stages, parts});

}  // namespace
}  // namespace leadline::collectives
