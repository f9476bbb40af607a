// Plays the stages of an algorithm on all ranks at once, on working memories of one number a block.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"

namespace leadline::collectives {

using Number = std::int64_t;
using Memory = std::vector<std::optional<Number>>;  // of one rank, by blocks; none: nothing is there yet

inline std::string spelt(const Algorithm& algorithm, const AlgorithmArguments& asked) {
    return algorithm.operation + ' ' + algorithm.name + " of " + std::to_string(asked.ranks) + " from " +
           std::to_string(asked.root) + ", " + std::to_string(asked.per_node) + " a node, " +
           std::to_string(asked.bytes) + " B";
}

inline bool by_blocks(const std::string& operation) {
    static const std::set<std::string> all{"gather", "scatter", "allgather", "alltoall", "reduce_scatter"};
    return all.contains(operation);
}

// How many blocks a message or a working memory has, without what an all-to-all adds to it.
inline std::int32_t blocks_of(const Algorithm& algorithm, const AlgorithmArguments& asked) {
    if (by_blocks(algorithm.operation)) return asked.ranks;
    return algorithm.blocks ? algorithm.blocks(asked) : 1;
}

inline std::int64_t bytes_of(const Algorithm& algorithm, const AlgorithmArguments& asked,
                             std::size_t blocks) {
    const auto count = static_cast<std::int64_t>(blocks);
    if (by_blocks(algorithm.operation)) return count * asked.bytes;
    const std::int64_t parts = blocks_of(algorithm, asked);
    return (asked.bytes * count + parts - 1) / parts;
}

// The blocks of every message are what they were before the stage.
inline void play(const Algorithm& algorithm, const AlgorithmArguments& asked, const Stage& stage,
                 std::vector<Memory>& memories) {
    struct Held {
        std::int32_t to;
        Blocks blocks;
        std::vector<Number> numbers;
    };
    std::vector<Held> messages;
    std::set<std::int32_t> senders;
    const auto hold = [&](std::int32_t from, std::int32_t to) {
        ASSERT_TRUE(from >= 0 && from < asked.ranks && to >= 0 && to < asked.ranks);
        EXPECT_TRUE(senders.insert(from).second) << from << " sends twice in a stage";
        Held held{.to = to, .blocks = stage.carries ? stage.carries(from) : Blocks{}, .numbers = {}};
        for (const std::int32_t block : held.blocks) {
            const auto& number = memories[static_cast<std::size_t>(from)].at(static_cast<std::size_t>(block));
            ASSERT_TRUE(number.has_value()) << from << " has nothing in block " << block;
            held.numbers.push_back(*number);
        }
        if (stage.lands) held.blocks = stage.lands(to);
        ASSERT_EQ(held.blocks.size(), held.numbers.size());
        messages.push_back(std::move(held));
    };
    if (stage.pattern == Stage::Pattern::local)
        for (std::int32_t rank = 0; rank < asked.ranks; ++rank) hold(rank, rank);
    else each_message(stage, asked.ranks, hold);

    std::set<std::int32_t> receivers;
    std::size_t largest = 0;
    for (const Held& held : messages) {
        EXPECT_TRUE(receivers.insert(held.to).second) << held.to << " receives twice in a stage";
        largest = std::max(largest, held.blocks.size());
        for (std::size_t i = 0; i < held.blocks.size(); ++i) {
            auto& there =
                memories[static_cast<std::size_t>(held.to)].at(static_cast<std::size_t>(held.blocks[i]));
            ASSERT_TRUE(there.has_value() || !stage.combines);
            there = held.numbers[i] + (stage.combines ? *there : 0);
        }
    }
    EXPECT_FALSE(messages.empty()) << "a stage without messages";
    const bool even = (asked.ranks & (asked.ranks - 1)) == 0 && asked.ranks % asked.per_node == 0;
    for (const Held& held : messages) EXPECT_TRUE(held.blocks.size() == largest || !even);
    if (even) EXPECT_EQ(stage.bytes, bytes_of(algorithm, asked, largest));
    else EXPECT_GE(stage.bytes, bytes_of(algorithm, asked, largest));
}

}  // namespace leadline::collectives
