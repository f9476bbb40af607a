// Networks that only some communicators may use, in closed form: the barrier network and the collective tree
// of all nodes, and the lines of a torus for ranks that fill a box of it.
#pragma once

#include <functional>
#include <list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "machine/engine.hpp"

namespace leadline::machine {

// A collective that a communicator begins.
struct HardwareCall {
    std::string_view operation;  // by MPI's name
    bool whole = false;          // by the world or a copy of it
    std::int64_t bytes = 0;
    bool floating = false;  // of a reduction: its numbers
    bool sums = true;       // ... and whether it adds them
};

// What a network of its own makes of a collective. It begins when its root has come (a broadcast) or the last
// rank, and `lasts` from there; each rank leaves `overhead` later, or as much after it has come itself.
struct Service {
    bool waits_for_all = true;
    Time lasts = 0;
    Time overhead = 0;
    Time occupies = 0;  // of it, how long the next one cannot begin
};
std::optional<Service> by_network(const Machine& machine, int nodes, const HardwareCall& call);

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
bool goes_by_lines(const Machine& machine, const HardwareCall& call);
// What it takes there beside what goes over the lines.
Service by_lines(const Engine& engine, const Box& box, const HardwareCall& call);

// The lines of boxes, and what goes over them: calls whose boxes meet share what a line gives.
class LineTraffic {
public:
    explicit LineTraffic(Engine& engine) : engine_(engine) {}
    // Begins at `when`; `then` hears when the last byte has been sent.
    void begin(Time when, const Box& box, const HardwareCall& call, std::function<void(Time)> then);

private:
    struct Stream {
        const Box* box;
        Rate alone;   // B/s
        double left;  // B
        double rate = 0;
        std::function<void(Time)> then;
    };
    void share();
    void look(std::uint64_t epoch);

    Engine& engine_;
    std::list<Stream> streams_;
    Time since_ = 0;           // what is left was counted
    std::uint64_t epoch_ = 0;  // looks of earlier ones are void
};

}  // namespace leadline::machine
