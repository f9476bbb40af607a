// The kinds of vectors that transforms are compiled for, each by a file of its name.
#pragma once

#include "applications/ft/vectors/vectors.hpp"

namespace leadline::ft {

// Null where the compiler was not asked for them: elsewhere than on x86.
const Vectors* plain_vectors();
const Vectors* avx2_vectors();
const Vectors* avx512_vectors();

}  // namespace leadline::ft
