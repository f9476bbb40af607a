// How fast do ranks write or read particles, eight 1-D variables, in a shared HDF5 file?
//
// The pattern of VPIC-IO (Behzad et al., Taming parallel I/O complexity with auto-tuning, SC 2013,
// section 4.2): each rank has 8 Mi particles in full size, whose eight variables are arrays of floats, one
// after the other.
#include "io/store/kernel.hpp"

namespace leadline {
namespace {

constexpr io::Length particles = io::Length{8} << 20U;  // of a rank in full size
const std::vector<std::string> variables{"dX", "dY", "dZ", "Ux", "Uy", "Uz", "q", "i"};

io::Contents contents(const Run& run) {
    const io::Length all = io::size_of(run).of_all(particles, run.ranks());
    io::Contents made;
    for (const auto& name : variables) made.arrays.push_back({.name = "Step#0/" + name, .lengths = {all}});
    made.part = [all, ranks = run.ranks()](std::size_t, int rank) { return io::even_part(all, rank, ranks); };
    return made;
}

}  // namespace

BENCHMARK(vpic, at_least(1), io::sweeps(), io::metrics(), Sampling{.one_operation = true}) {
    const io::Contents made = contents(run);
    co_await io::move_arrays(run, made);
}

}  // namespace leadline
