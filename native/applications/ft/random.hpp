// The pseudo-random numbers of the NAS benchmarks, from any place of the sequence on.
#pragma once

#include <array>
#include <cstdint>

#include "applications/ft/problem.hpp"

namespace leadline::ft {

// x[k + 1] = 5^13 x[k] modulo 2^46, x[0] = 314159265; number k is x[k + 1] / 2^46 (Bailey et al., The NAS
// Parallel Benchmarks, 1994, section 2.3).
class Sequence {
public:
    // From the number `skipped` on.
    explicit Sequence(std::int64_t skipped);
    // Pairs of successive numbers.
    void fill(Complex* to, std::int64_t count);

private:
    std::uint64_t state_;
};

// Four lines abreast, [i][line]: line k is of the pairs at starts[k], starts[k] + stride, ... of the
// sequence.
void fill_abreast(const std::array<std::int64_t, 4>& starts, std::int64_t stride, std::int64_t count,
                  Complex* to);

}  // namespace leadline::ft
