// One-dimensional Fourier transforms of many lines of a grid, by FFTW where this program was built with it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "applications/ft/problem.hpp"

namespace leadline::ft {

bool transforms_available();

// Columns that are taken at once: two cache lines of each row.
inline constexpr std::int64_t tile = 8;

// Transforms of one length, without a factor. Which sign the exponent has is the same for all of them: NAS FT
// transforms there and back, and its evolution is even in each wave number, so that only the two being
// opposite counts.
class Transform {
public:
    enum class Sign { forward, inverse };
    Transform(std::int64_t length, Sign sign);
    ~Transform();
    Transform(const Transform&) = delete;
    Transform& operator=(const Transform&) = delete;
    Transform(Transform&&) = delete;
    Transform& operator=(Transform&&) = delete;

    // A line of successive points, in its place.
    void row(Complex* line);
    // `tile` columns that stand beside each other in rows of `tile` points, in their place.
    void columns(Complex* rows);

private:
    struct Plans;
    std::unique_ptr<Plans> plans_;
};

}  // namespace leadline::ft
