// A core's detours.
#include <cmath>

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

}  // namespace

void Engine::draw_detour(int rank) {
    Detours& mine = detours_[static_cast<std::size_t>(rank)];
    const double u = draw(conditions_.seed, static_cast<std::uint64_t>(home(rank)), mine.taken++);
    const double until = std::min(-std::log(u) * machine_.noise.interval, seconds(longest));
    mine.next += std::max<Time>(1, from_seconds(until));
}

// What goes on beside a rank's program is on the same core: from now on it has the same detours.
void Engine::begin_detours(int agent, Time clock) {
    detours_.resize(ranks_.size());
    Detours& mine = detours_[static_cast<std::size_t>(agent)];
    mine = detours_[static_cast<std::size_t>(home(agent))];
    mine.spent = clock;
}

// The rank waited, if it did, until `begun`, and has been charged for what it did since. A detour that comes
// while it does something takes its whole length; of those that come while it waits only what is left of
// them, one after another, when the wait is over.
void Engine::take_detours(int rank, Time begun) {
    Detours& mine = detours_[static_cast<std::size_t>(rank)];
    Time& clock = at(rank).clock;
    Time away = begun;  // until when detours of the wait keep the core
    for (Time free = mine.spent; clock >= mine.next;) {
        const double u = draw(~conditions_.seed, static_cast<std::uint64_t>(home(rank)), mine.taken);
        const Time length = from_seconds(-std::log(u) * machine_.noise.detour);
        if (mine.next < begun) {
            free = std::max(free, mine.next) + length;
            clock += std::max<Time>(0, free - away);
            away = std::max(away, free);
        } else {
            clock += length;
        }
        draw_detour(rank);
    }
    mine.spent = clock;
}

}  // namespace leadline::machine
