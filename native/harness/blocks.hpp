// The blocks of a collective's v-variant, and messages that vary: how large each is, the same on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "comm/vocabulary.hpp"

namespace leadline {

// Between half the mean and one and a half, by a fixed pseudo-random sequence whose `index`-th this is.
std::int64_t varied(std::int64_t mean, std::uint64_t index);

// Sizes of blocks, in whole numbers of `unit`; equal ones where nothing varies.
std::vector<std::int64_t> block_sizes(std::size_t count, std::int64_t mean, std::int64_t unit, bool varying);

// Blocks of these sizes, one after the other, of or for ranks 0, 1, ...
std::vector<Part> laid_out(const std::vector<std::int64_t>& sizes);

}  // namespace leadline
