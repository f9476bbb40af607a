// Binomial tree: whoever has the message passes it on, in each stage to one rank half as far away as before;
// upwards the other way round. Of a gather a message holds the blocks of all ranks below (Thakur,
// Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, 2005, 4.1).
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

Members from_root(const AlgorithmArguments& asked) { return {.first = asked.root, .count = asked.ranks}; }

// Up to rank 0 and down from there.
std::vector<Stage> up_and_down(const AlgorithmArguments& asked, Stage like) {
    const Members members{.first = 0, .count = asked.ranks};
    std::vector<Stage> all = tree_up(members, like);
    like.combines = false;
    append(all, tree_down(members, like));
    return all;
}

std::vector<Stage> barrier_stages(const AlgorithmArguments& asked) { return up_and_down(asked, {}); }

std::vector<Stage> bcast_stages(const AlgorithmArguments& asked) {
    return tree_down(from_root(asked), {.bytes = asked.bytes, .carries = whole});
}

std::vector<Stage> reduce_stages(const AlgorithmArguments& asked) {
    return tree_up(from_root(asked), {.bytes = asked.bytes, .combines = true, .carries = whole});
}

std::vector<Stage> allreduce_stages(const AlgorithmArguments& asked) {
    return up_and_down(asked, {.bytes = asked.bytes, .combines = true, .carries = whole});
}

std::vector<Stage> scatter_stages(const AlgorithmArguments& asked) {
    return blocks_down(from_root(asked), asked, asked.ranks * asked.bytes, asked.root);
}

std::vector<Stage> gather_stages(const AlgorithmArguments& asked) {
    return turned_round(scatter_stages(asked));
}

const Entered barrier({"barrier", "binomial", barrier_stages});
const Entered bcast({"bcast", "binomial", bcast_stages});
const Entered reduce({"reduce", "binomial", reduce_stages});
const Entered allreduce({"allreduce", "binomial", allreduce_stages});
const Entered gather({"gather", "binomial", gather_stages});
const Entered scatter({"scatter", "binomial", scatter_stages});

}  // namespace
}  // namespace leadline::collectives
