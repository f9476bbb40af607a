#include "machine/time.hpp"

#include <array>
#include <cstdio>
#include <stdexcept>

namespace leadline::machine {

void too_long(double seconds) {
    std::array<char, 120> said{};
    std::snprintf(said.data(), said.size(), "simulated time goes up to %.3g days, but got %.3g s",
                  machine::seconds(longest) / 86400, seconds);
    throw std::range_error(said.data());
}

}  // namespace leadline::machine
