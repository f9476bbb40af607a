// The parts of the engine that most runs never come to: a core's detours, and who waits when nothing moves.
#include <cmath>
#include <string>

#include "machine/engine.hpp"

namespace leadline::machine {
namespace {

// The k-th number of a rank's own sequence, in (0, 1]: splitmix64 of seed, rank and k, so that no rank's
// noise depends on what others drew.
double draw(std::uint64_t seed, std::uint64_t rank, std::uint64_t k) {
    std::uint64_t z = seed * 0x9E3779B97F4A7C15ULL + rank * 0xD1B54A32D192ED03ULL + k * 0x8CB92BA72F3D8DD7ULL;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
    return static_cast<double>(((z ^ (z >> 31U)) >> 11U) + 1) * 0x1p-53;
}

constexpr int most_told = 8;  // ranks of a deadlock that the sentence names

}  // namespace

void Engine::draw_detour(int rank) {
    Detours& mine = detours_[static_cast<std::size_t>(rank)];
    const double u = draw(conditions_.seed, static_cast<std::uint64_t>(rank), mine.taken++);
    const double until = std::min(-std::log(u) * machine_.noise.interval, seconds(longest));
    mine.next += std::max<Time>(1, from_seconds(until));
}

void Engine::take_detours(int rank) {
    Detours& mine = detours_[static_cast<std::size_t>(rank)];
    while (at(rank).clock >= mine.next) {
        const double u = draw(~conditions_.seed, static_cast<std::uint64_t>(rank), mine.taken);
        at(rank).clock += from_seconds(-std::log(u) * machine_.noise.detour);
        draw_detour(rank);
    }
}

std::string Engine::who_waits() const {
    // The first thing that each rank waits for.
    std::vector<Operation> open(ranks_.size(), no_operation);
    for (Operation id = 1; id < operations_.size(); ++id) {
        const Pending& pending = operations_[id];
        auto& held = open[static_cast<std::size_t>(pending.rank)];
        if (pending.done == never && pending.awaited && held == no_operation) held = id;
    }
    std::string said = "deadlock: ";
    std::vector<bool> told(ranks_.size());
    int count = 0;
    int waiting = 0;
    const auto name = [](int rank) { return "rank " + std::to_string(rank); };
    // From a rank to the one that it waits for, as long as there is one that was not told of.
    const auto tell = [&](int rank) {
        while (rank >= 0 && !at(rank).ended && !told[static_cast<std::size_t>(rank)] && count < most_told) {
            told[static_cast<std::size_t>(rank)] = true;
            if (count++) said += ", ";
            const Operation id = open[static_cast<std::size_t>(rank)];
            if (at(rank).parked || id == no_operation) {
                said += name(rank) + " waits " + (at(rank).parked ? at(rank).parked : "for nothing known");
                return;
            }
            const Pending& pending = operations_[id];
            const int peer = pending.peer;
            if (peer == everybody) {
                said += name(rank) + " waits for a collective that it has begun";
                return;
            }
            said += name(rank) + (pending.receives ? " waits for a message from " : " waits to send to ") +
                    (peer < 0 ? "any rank" : name(peer)) + " with tag " + std::to_string(pending.tag);
            if (peer >= 0 && at(peer).ended) said += ", which has ended";
            rank = peer;
        }
    };
    for (int rank = 0; rank < ranks(); ++rank) {
        if (at(rank).ended) continue;
        ++waiting;
        tell(rank);
    }
    if (waiting > count) said += ", and " + std::to_string(waiting - count) + " ranks more wait";
    return said;
}

}  // namespace leadline::machine
