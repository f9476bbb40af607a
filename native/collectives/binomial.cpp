// Binomial tree: whoever has the message passes it on, in each stage to one rank half as far away as before.
#include <bit>

#include "collectives/algorithm.hpp"

namespace leadline::collectives {
namespace {

std::vector<Stage> stages(int ranks, int root, std::int64_t bytes) {
    std::vector<Stage> all;
    // Ranks are counted from the root; in each stage those at multiples of 2 * reach have it.
    for (auto reach = static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(ranks))) / 2; reach > 0;
         reach /= 2) {
        Stage stage{.bytes = bytes};
        for (std::int64_t from = 0; from + reach < ranks; from += 2 * reach)
            stage.messages.push_back({static_cast<std::int32_t>((from + root) % ranks),
                                      static_cast<std::int32_t>((from + reach + root) % ranks)});
        all.push_back(stage);
    }
    return all;
}

const Entered bcast({"bcast", "binomial", stages});

}  // namespace
}  // namespace leadline::collectives
