#include "applications/ft/vectors/kinds.hpp"

#ifdef __AVX2__
#include "applications/ft/vectors/body.hpp"

namespace leadline::ft {

const Vectors* avx2_vectors() {
    static constexpr Vectors all{.name = "avx2", .transform = transform, .turn = turn, .stream = stream};
    return &all;
}

}  // namespace leadline::ft

#else

namespace leadline::ft {
const Vectors* avx2_vectors() { return nullptr; }
}  // namespace leadline::ft

#endif
