// Rabenseifner: the message is halved with a partner at twice the distance in each stage until every rank has
// combined one part of it; then the parts are put together the same way back, in everyone or in the root
// (Rabenseifner, Optimization of Collective Reduction Operations, 2004).
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

std::int32_t parts(const AlgorithmArguments& asked) { return power_below(asked.ranks); }

std::vector<Stage> allreduce_stages(const AlgorithmArguments& asked) {
    return halving({.first = 0, .count = asked.ranks}, asked, true);
}

std::vector<Stage> reduce_stages(const AlgorithmArguments& asked) {
    return halving({.first = asked.root, .count = asked.ranks}, asked, false);
}

const Entered allreduce({"allreduce", "rabenseifner", allreduce_stages, parts});
const Entered reduce({"reduce", "rabenseifner", reduce_stages, parts});

}  // namespace
}  // namespace leadline::collectives
