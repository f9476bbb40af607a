// How fast do ranks write or read variables of a global mesh, level by level, in a shared HDF5 file?
//
// The pattern of GCRM-IO (Behzad et al., Taming parallel I/O complexity with auto-tuning, SC 2013,
// section 4.2): the cells of a geodesic mesh in one row, 25 levels above each other. A rank has four blocks
// of cells that lie apart, as those of different panels of the mesh do. Twelve variables of 2^18 cells a rank
// make the 40 GB of 128 ranks of the paper's table 2. Stored in chunks of one level of one block.
#include <algorithm>

#include "io/store/kernel.hpp"

namespace leadline {
namespace {

constexpr io::Length levels = 25;
constexpr io::Length cells = io::Length{1} << 18U;  // of a rank in full size
constexpr io::Length blocks = 4;                    // of a rank
constexpr int variables = 12;

io::Contents contents(const Run& run) {
    const auto ranks = static_cast<io::Length>(run.ranks());
    const io::Length pieces = ranks * blocks;
    const io::Length block = std::max<io::Length>(io::size_of(run).of_all(cells, run.ranks()) / pieces, 1);
    io::Contents made;
    for (int i = 0; i < variables; ++i)
        made.arrays.push_back({.name = "variable" + std::to_string(i),
                               .lengths = {levels, block * pieces},
                               .chunk = {1, block}});
    made.part = [block, ranks](std::size_t, int rank) {
        return io::Hyperslab{.from = {0, block * static_cast<io::Length>(rank)},
                             .lengths = {levels, block},
                             .times = blocks,
                             .stride = block * ranks};
    };
    return made;
}

}  // namespace

BENCHMARK(gcrm, at_least(1), io::sweeps(), io::metrics(), Sampling{.one_operation = true}) {
    const io::Contents made = contents(run);
    co_await io::move_arrays(run, made);
}

}  // namespace leadline
