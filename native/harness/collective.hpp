// The body that the benchmarks of collectives share. A benchmark's file says which operation it is and what
// each rank's buffers hold; communicators, forms, cadences and algorithms are the same for all.
#pragma once

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

// Sweeps: the rank of the communicator from which, or towards which, it goes; whether blocks are told one by
// one (MPI's v-variants), and are equal then; the size.
Sweep roots();
Sweep variations();
Sweep blocks(std::string help);
// Sweep: of the grid of ranks whose neighbours speak.
Sweep dimensions();

inline constexpr const char* library = "library";  // the algorithm that is the library's own choice

// Sweeps: how the operation is said, how calls follow one another, and by which algorithm it is done.
std::vector<Sweep> ways(Collective what);

// Metrics: `time`, `mean` and, where the operation is begun and ended apart, `overlap`.
std::vector<Metric> times(const std::string& operation);

}  // namespace leadline
