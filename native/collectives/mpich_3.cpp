// Library mpich-3: MPICH before version 4, and what is taken where no library is said (Thakur, Rabenseifner
// and Gropp, Optimization of Collective Communication Operations in MPICH, 2005).
#include <utility>

#include "collectives/algorithm.hpp"

namespace leadline::collectives {
namespace {

constexpr std::int64_t kib = 1024;

const Entered mpich_3(Library{"mpich-3", usual});

}  // namespace

std::string_view usual(std::string_view operation, const AlgorithmArguments& asked) {
    const auto [ranks, bytes] = std::pair(asked.ranks, asked.bytes);
    if (operation == "barrier") return "dissemination";
    if (operation == "bcast") return bytes < 12 * kib || ranks < 8 ? "binomial" : "scatter-allgather";
    if (operation == "reduce") return bytes <= 2 * kib ? "binomial" : "rabenseifner";
    if (operation == "allreduce") return bytes <= 2 * kib ? "recursive-doubling" : "rabenseifner";
    if (operation == "gather" || operation == "scatter") return "binomial";
    const bool power = (ranks & (ranks - 1)) == 0;
    if (operation == "allgather") {
        if (bytes * ranks >= 512 * kib) return "ring";
        return power ? "recursive-doubling" : "bruck";
    }
    if (operation == "alltoall") return bytes <= 256 ? "bruck" : "pairwise";
    if (operation == "reduce_scatter") return bytes * ranks < 512 * kib ? "recursive-halving" : "pairwise";
    if (operation == "scan") return "recursive-doubling";
    return {};
}

}  // namespace leadline::collectives
