// Networks that only some communicators may use, in closed form: the barrier network and the collective tree
// of all nodes, and line broadcast for ranks that fill a box of a torus.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "machine/engine.hpp"

namespace leadline::machine {

// A collective that a communicator begins.
struct Call {
    std::string operation;  // barrier, bcast, allreduce
    bool whole = false;     // by the world or a copy of it
    int root = 0;
    std::int64_t bytes = 0;
    bool floating = false;  // of a reduction: its numbers
    bool sums = true;       // ... and whether it adds them
};

// Moves the clocks, one a rank of the communicator, over the call if there is hardware for it; false if not.
// `members` are the world's ranks of the communicator, none: all in order.
bool by_hardware(const Engine& engine, std::span<const std::int32_t> members, const Call& call,
                 std::vector<Time>& clocks);

// The axes of the box that nodes fill, each node once: for each axis how many it spans; nothing where they
// fill none.
std::optional<std::vector<int>> box_of(const Topology& topology, std::span<const int> nodes);

}  // namespace leadline::machine
