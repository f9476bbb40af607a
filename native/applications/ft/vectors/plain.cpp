#include "applications/ft/vectors/kinds.hpp"

#include "applications/ft/vectors/body.hpp"

namespace leadline::ft {

const Vectors* plain_vectors() {
    static constexpr Vectors all{.name = "plain", .transform = transform, .turn = turn, .stream = stream};
    return &all;
}

}  // namespace leadline::ft
