// Library mpich-3: what MPICH takes before version 4 (src/mpi/coll of its sources; Thakur, Rabenseifner and
// Gropp, Optimization of Collective Communication Operations in MPICH, 2005), for operations that commute.
// It is also what is taken where no library is said. Nodes are not looked at.
#include <utility>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

constexpr std::int64_t kib = 1024;

const Entered mpich_3(Library{"mpich-3", usual});

}  // namespace

std::string_view usual(std::string_view operation, const AlgorithmArguments& asked) {
    const auto [ranks, bytes] = std::pair(asked.ranks, asked.bytes);
    if (operation == "barrier") return "dissemination";
    if (operation == "bcast") return bytes < 12 * kib || ranks < 8 ? "binomial" : "scatter-allgather";
    // To give a part to each rank, a reduction must be long enough to be worth it and to have the parts.
    const bool parts = bytes > 2 * kib && element_for_each(bytes, ranks);
    if (operation == "reduce") return parts ? "rabenseifner" : "binomial";
    if (operation == "allreduce") return parts ? "rabenseifner" : "recursive-doubling";
    if (operation == "gather" || operation == "scatter") return "binomial";
    const std::int64_t total = bytes * ranks;
    if (operation == "allgather") {
        if (power_below(ranks) == ranks) return total < 512 * kib ? "recursive-doubling" : "ring";
        return total < 80 * kib ? "bruck" : "ring";
    }
    if (operation == "alltoall") {
        // MPICH posts 32 messages of a linear one at once; here each rank has one after another.
        if (bytes <= 256 && ranks >= 8) return "bruck";
        return bytes <= 32 * kib ? "linear" : "pairwise";
    }
    if (operation == "reduce_scatter") return total < 512 * kib ? "recursive-halving" : "pairwise";
    if (operation == "scan") return "recursive-doubling";
    return {};
}

}  // namespace leadline::collectives
