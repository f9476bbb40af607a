// The body that the benchmarks of collectives share. A benchmark's file says which operation it is and what
// each rank's buffers hold; communicators, forms, cadences and algorithms are the same for all.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/benchmark.hpp"
#include "harness/communicators.hpp"
#include "harness/reductions.hpp"

namespace leadline {

// What a buffer holds: a message or a rank's own block; a block of each rank, everywhere or at the root
// alone; a block of each neighbour in a grid. `bytes` of a point is the size of one.
enum class Held { nothing, block, blocks, blocks_at_root, neighbours };

struct Asking {
    Collective what;
    Held out = Held::nothing;
    Held in = Held::nothing;
};

Task<> collective(Run& run, Asking asking);

// A cadence whose calls are timed one by one; the time of a sample is their mean. What passes between the
// calls is outside of it.
struct TimedCadence {
    std::string_view name;
    int barriers_before;  // a sample
    bool barrier_after;   // each call, except where the call is a barrier
    std::int64_t walked;  // bytes of memory that a rank writes before each call, 0: none
};
inline constexpr std::array<TimedCadence, 3> timed_cadences{{
    // More than the private caches of a core hold, so that the call's data come from farther away.
    {.name = "application", .barriers_before = 0, .barrier_after = false, .walked = 4 << 20},
    {.name = "osu", .barriers_before = 1, .barrier_after = true, .walked = 0},
    {.name = "imb", .barriers_before = 2, .barrier_after = true, .walked = 0},
}};

// Sweeps: the rank of the communicator from which, or towards which, it goes; whether blocks are told one by
// one (MPI's v-variants), and are equal then; the size.
Sweep roots();
Sweep variations();
Sweep blocks(std::string help);
// Sweep: of the grid of ranks whose neighbours speak.
Sweep dimensions();

inline constexpr const char* library = "library";  // the algorithm that is the library's own choice

// Sweeps: the form of the call, how calls follow one another, and by which algorithm it is done.
std::vector<Sweep> ways(Collective what);

// Metrics: `time`, `mean` and, where the operation is begun and ended apart, `overlap`.
std::vector<Metric> times(const std::string& operation);

}  // namespace leadline
