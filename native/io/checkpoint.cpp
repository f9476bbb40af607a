// What do many small arrays with attributes cost, where metadata take longer than the data?
//
// A checkpoint as many codes write it: 4096 arrays in full size, in groups of 64, each with four attributes
// and 128 doubles a rank. Each array and each attribute is metadata that all ranks agree on.
#include <algorithm>

#include "io/store/kernel.hpp"

namespace leadline {
namespace {

constexpr io::Length arrays = 4096;  // in full size
constexpr io::Length group = 64;
constexpr io::Length elements = 128;  // of an array, a rank's
constexpr std::size_t attributes = 4;

io::Contents contents(const Run& run) {
    const io::Size size = io::size_of(run);
    // It is their number that shrinks, not what they hold.
    const io::Length all = io::Size{.shrink = 1, .strong = size.strong}.of_all(elements, run.ranks());
    io::Contents made;
    for (io::Length i = 0; i < std::max<io::Length>(arrays / size.shrink, 1); ++i)
        made.arrays.push_back(
            {.name = "level" + std::to_string(i / group) + "/field" + std::to_string(i % group),
             .lengths = {all},
             .wide = true,
             .attributes = attributes});
    made.part = [all, ranks = run.ranks()](std::size_t, int rank) { return io::even_part(all, rank, ranks); };
    return made;
}

}  // namespace

BENCHMARK(checkpoint, at_least(1), io::sweeps(), io::metrics(), Sampling{.one_operation = true}) {
    const io::Contents made = contents(run);
    co_await io::move_arrays(run, made);
}

}  // namespace leadline
