// Networks that only some communicators may use, in closed form: the barrier network and the collective tree
// of all nodes, and the lines of a torus for ranks that fill a box of it.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "machine/engine.hpp"

namespace leadline::machine {

// A collective that a communicator begins.
struct Call {
    std::string_view operation;  // by MPI's name
    bool whole = false;          // by the world or a copy of it
    int root = 0;
    std::int64_t bytes = 0;
    bool floating = false;  // of a reduction: its numbers
    bool sums = true;       // ... and whether it adds them
};

// Moves the clocks, one a rank of the communicator, over the call if there is a network of its own for it;
// false if not.
bool by_network(const Machine& machine, const Call& call, std::vector<Time>& clocks);

// Nodes that are all those between two corners, each of them once.
struct Box {
    std::vector<int> low;    // the first of them on each axis
    std::vector<int> spans;  // how many on each axis
    [[nodiscard]] bool meets(const Box& other) const;
};
// The box that nodes fill; nothing where they fill none.
std::optional<Box> box_of(const Topology& topology, std::span<const int> nodes);

// Whether a call can go along the lines of a box, with packets that every node takes, or adds to, as they
// pass.
bool goes_by_lines(const Machine& machine, const Call& call);
// Moves the clocks of a box's ranks over such a call. `sharing` communicators use its lines at the same time.
void by_lines(const Engine& engine, const Box& box, int sharing, const Call& call, std::vector<Time>& clocks);

}  // namespace leadline::machine
