// Where the blocks of an algorithm's working memory lie: in the caller's buffers wherever that can be, else
// in memory of the algorithm's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "comm/vocabulary.hpp"

namespace leadline::perform {

// A collective as one rank sees it.
struct Sight {
    Call call;
    int rank;
    int ranks;

    [[nodiscard]] bool root() const { return rank == call.root; }
    [[nodiscard]] bool reduces() const {
        return call.what == Collective::reduce || call.what == Collective::allreduce ||
               call.what == Collective::scan || call.what == Collective::reduce_scatter;
    }
    // A message that all have, in parts, or a block of each rank.
    [[nodiscard]] bool by_parts() const;
};

// The message that all have: the operand, or what is broadcast.
inline Bytes message_of(const Sight& sight) {
    return sight.call.what == Collective::bcast ? sight.call.in : sight.call.out;
}

// How many bytes each rank's block has, as far as this rank knows by itself: those that it does not know are
// taken to be like its own.
std::vector<std::int64_t> sizes_known(const Sight& sight);
// Whether the others' blocks are known to the root alone.
bool root_tells(const Sight& sight);

// A block: what the rank brings to it lies at `given`, its result has to be at `taken`; null where there is
// none. While the algorithm runs it is at `home`.
struct Block {
    std::int64_t bytes = 0;
    std::int64_t offset = 0;  // in a message that is cut into parts
    std::byte* given = nullptr;
    std::byte* taken = nullptr;
    std::byte* home = nullptr;
    bool used = false;
    bool written = false;
};

// All blocks, but for their homes. `sizes` is by ranks; `parts` as many as a message is cut into.
std::vector<Block> blocks_of(const Sight& sight, const std::vector<std::int64_t>& sizes, std::int32_t parts);

// Adds to or multiplies with `into` what is at `from`.
using Combine = void (*)(std::byte* into, const std::byte* from, std::size_t bytes);
Combine combining(Type type, Reduce reduce);

}  // namespace leadline::perform
