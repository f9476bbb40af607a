// Library mpich-4: what MPICH 4 takes over shared memory and ucx or ofi, by its trees of decisions
// (maint/tuning/coll/ch4/generic.json and mpir/generic.json of its sources). Seen by timing 4.0.2: an
// allreduce of 128 B on two ranks takes as long as two exchanges, a barrier as an exchange and a broadcast.
//
// Where nodes have several ranks, "compositions" go inside the nodes first. Whether a reduction has an
// element for each of so many ranks is known by bytes: elements are taken to have 8.
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

constexpr std::int64_t kib = 1024;
// Of ranks that are alike, in mpir/generic.json: as before version 4, but for broadcasts and allreduces.
std::string_view flat(std::string_view operation, std::int32_t ranks, std::int64_t bytes) {
    if (operation == "bcast") {
        const std::int64_t share = power_below(ranks) == ranks ? bytes : bytes / ranks;
        return ranks < 8 || share <= 12 * kib ? "binomial" : "scatter-allgather";
    }
    if (operation == "allreduce")
        return bytes <= element || !element_for_each(bytes, ranks) ? "recursive-doubling" : "rabenseifner";
    return usual(operation, {.ranks = ranks, .bytes = bytes});
}

std::string_view takes(std::string_view operation, const AlgorithmArguments& asked) {
    const bool nodes = asked.per_node > 1;
    const bool several = asked.ranks > asked.per_node;
    if (operation == "barrier" && nodes) return "hierarchical-dissemination";
    if (operation == "bcast" && nodes && (asked.ranks < 8 || asked.bytes < 12 * kib)) return "hierarchical";
    if (operation == "allreduce" && nodes && several && asked.bytes <= 32 * kib) return "hierarchical";
    if (operation == "reduce" && nodes && several && asked.bytes > 2 * kib) return "hierarchical";
    return flat(operation, asked.ranks, asked.bytes);
}

const Entered mpich_4(Library{"mpich-4", takes});

}  // namespace
}  // namespace leadline::collectives
