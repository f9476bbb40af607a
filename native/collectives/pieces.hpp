// What several algorithms are put together from.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "collectives/algorithm.hpp"

namespace leadline::collectives {

using Choose = std::function<Blocks(std::int32_t)>;

// The largest power of two that is not more.
constexpr std::int32_t power_below(std::int32_t ranks) {
    return static_cast<std::int32_t>(std::bit_floor(static_cast<unsigned>(ranks)));
}
// The smallest power of two that is not less.
constexpr std::int32_t power_from(std::int32_t ranks) {
    return static_cast<std::int32_t>(std::bit_ceil(static_cast<unsigned>(ranks)));
}

// Whether a message to be reduced has an element for each of the largest power of two among so many ranks.
// Only bytes are known: an element is taken to have 8.
constexpr std::int64_t element = 8;
constexpr bool element_for_each(std::int64_t bytes, std::int32_t ranks) {
    return bytes / element >= power_below(ranks);
}

// As many of the equal parts of a message, in bytes.
constexpr std::int64_t share(std::int64_t bytes, std::int32_t pieces, std::int32_t many) {
    return (bytes * many + pieces - 1) / pieces;
}

// Blocks of `by` members from `first` on and of the `extra` ranks that were folded into the first members.
constexpr std::int32_t with_folded(std::int32_t first, std::int32_t by, std::int32_t extra) {
    return by + (extra <= first ? 0 : extra - first < by ? extra - first : by);
}

// Numbers `first` and up, beyond the last block on from the first.
Blocks range(std::int64_t first, std::int32_t count, std::int32_t blocks);

// A message in one piece.
inline Blocks whole(std::int32_t) { return {0}; }

// The stage of an alltoall in which each rank's block for itself goes to where the others' blocks come.
Stage own_block(const AlgorithmArguments& asked);

// An alltoall in which each rank sends to one other after the other, all of them as far on.
std::vector<Stage> one_shift_after_another(const AlgorithmArguments& asked);

// Of a message of more bytes than a segment, that many segments, but not too many.
std::int32_t segments(std::int64_t bytes);

// Some of the ranks: `first` and `count` - 1 more, each `step` on from the one before.
struct Members {
    std::int32_t first;
    std::int32_t count;
    std::int32_t step = 1;
    [[nodiscard]] std::int32_t place(std::int32_t rank, std::int32_t ranks) const {
        return modulo(rank - first, ranks) / step;
    }
};
// The messages of members [from, from + count) to those as much `by` farther on, each `every` members.
Row between(const Members& members, std::int32_t from, std::int32_t by, std::int32_t count,
            std::int32_t every = 1);

// The same messages the other way, and in the other order: what came down goes up.
std::vector<Stage> turned_round(std::vector<Stage> all);

// Down a binomial tree from the first member, or up it (a receiver then combines): the whole message in each.
std::vector<Stage> tree_down(const Members& members, const Stage& like);
std::vector<Stage> tree_up(const Members& members, const Stage& like);

// Down a binomial tree from the first member, to each the blocks of the members below it; together they are
// `bytes`, a block for each member, that of the first one `block`.
std::vector<Stage> blocks_down(const Members& members, const AlgorithmArguments& asked, std::int64_t bytes,
                               std::int32_t block);

// Every member exchanges all it has with the one whose number differs in bit k. Those beyond the largest
// power of two hand their message to the one so many before them first, and get the result back from it last.
std::vector<Stage> doubling(const Members& members, const Stage& like);

// One stage for the members beyond the largest power of two, there and back; none where there are none.
std::vector<Stage> fold(const Members& members, Stage like);
std::vector<Stage> unfold(const Members& members, Stage like);

// A reduction whose message is halved with a partner at twice the distance in each stage until each member
// has combined one part of it, of as many as the largest power of two among the members; then the parts are
// put together the same way back, in all members or in the first.
std::vector<Stage> halving(const Members& members, const AlgorithmArguments& asked, bool to_all);

// One list after another.
void append(std::vector<Stage>& all, std::vector<Stage> more);

}  // namespace leadline::collectives
