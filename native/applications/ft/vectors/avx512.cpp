#include "applications/ft/vectors/kinds.hpp"

#ifdef __AVX512F__
#include "applications/ft/vectors/body.hpp"

namespace leadline::ft {

const Vectors* avx512_vectors() {
    static constexpr Vectors all{.name = "avx512", .transform = transform, .turn = turn, .stream = stream};
    return &all;
}

}  // namespace leadline::ft

#else

namespace leadline::ft {
const Vectors* avx512_vectors() { return nullptr; }
}  // namespace leadline::ft

#endif
