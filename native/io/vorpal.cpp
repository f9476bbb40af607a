// How fast do ranks write or read blocks of a 3-D field in a shared HDF5 file?
//
// The pattern of VORPAL-IO (Behzad et al., Taming parallel I/O complexity with auto-tuning, SC 2013, section
// 4.2): blocks of 100 x 100 x 60 points a rank, three components of doubles, 20 steps. A block's rows lie far
// apart in the file; slabs, which lie together, are there to compare.
#include <algorithm>

#include "harness/grids.hpp"
#include "io/store/kernel.hpp"

namespace leadline {
namespace {

constexpr io::Length steps = 20;
const io::Lengths block{100, 100, 60};
const std::vector<std::string> components{"x", "y", "z"};

struct Field {
    io::Lengths lengths;
    io::Lengths ranks;  // along each axis
    io::Length steps;
    bool uneven;
};

// Sizes shrink by the number of steps first, then by the planes of a block: its rows stay as long as they
// are.
Field field(const Run& run) {
    const io::Size size = io::size_of(run);
    Field made{.lengths = block,
               .ranks = {},
               .steps = std::max<io::Length>(steps / size.shrink, 1),
               .uneven = false};
    if (size.shrink > steps) made.lengths[0] = std::max<io::Length>(block[0] * steps / size.shrink, 1);
    made.uneven = run.word("blocks") == "uneven";
    const auto grid =
        run.word("blocks") == "slabs" ? std::vector<int>{run.ranks(), 1, 1} : even_grid(run.ranks(), 3);
    made.ranks = {grid.begin(), grid.end()};
    for (std::size_t axis = 0; axis < 3; ++axis)
        made.lengths[axis] = size.strong ? std::max(made.lengths[axis], made.ranks[axis])
                                         : made.lengths[axis] * made.ranks[axis];
    return made;
}

io::Contents contents(const Field& field) {
    io::Contents made;
    for (io::Length step = 0; step < field.steps; ++step)
        for (const auto& component : components)
            made.arrays.push_back({.name = "Step#" + std::to_string(step) + "/Block/E/" + component,
                                   .lengths = field.lengths,
                                   .wide = true});
    made.part = [field](std::size_t, int rank) {
        io::Hyperslab part{.from = {0, 0, 0}, .lengths = {0, 0, 0}};
        auto rest = static_cast<io::Length>(rank);
        for (std::size_t axis = 3; axis-- > 0;) {
            const io::Length which = rest % field.ranks[axis];
            rest /= field.ranks[axis];
            const auto begin = [&](io::Length at) {
                return io::begin_of(field.lengths[axis], at, field.ranks[axis], field.uneven);
            };
            part.from[axis] = begin(which);
            part.lengths[axis] = begin(which + 1) - part.from[axis];
        }
        return part;
    };
    return made;
}

}  // namespace

BENCHMARK(
    vorpal, at_least(1),
    choice("blocks", {"even", "uneven", "slabs"},
           "how the field is divided: boxes alike; boxes whose faces are off by up to an eighth; planes",
           {"even"}),
    io::sweeps(), io::metrics(), Sampling{.one_operation = true}) {
    const io::Contents made = contents(field(run));
    co_await io::move_arrays(run, made);
}

}  // namespace leadline
