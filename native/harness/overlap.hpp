// How much of one thing is hidden behind another that goes on beside it.
#pragma once

#include <algorithm>

namespace leadline {

// The share of the shorter one's time that doing both together saves over one after the other. It is not cut
// off at nothing or at the whole: below nothing, together is dearer, and what noise puts beyond either end
// belongs to the median.
inline double hidden_share(double one, double other, double together) {
    return (one + other - together) / std::min(one, other);
}

}  // namespace leadline
