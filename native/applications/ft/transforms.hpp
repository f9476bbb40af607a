// One-dimensional Fourier transforms of many lines of a grid: by FFTW where this program was built with it,
// or of lines abreast by vectors of our own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

#include "applications/ft/problem.hpp"
#include "applications/ft/vectors/vectors.hpp"

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
    // Of planes, `row` and `columns` can be asked for; of lines, `abreast`. Each costs plans of its own.
    enum class Use { planes, lines };
    Transform(std::int64_t length, Sign sign, Use use, bool by_vectors = false);
    ~Transform();
    Transform(const Transform&) = delete;
    Transform& operator=(const Transform&) = delete;
    Transform(Transform&&) = delete;
    Transform& operator=(Transform&&) = delete;

    // A line of successive points, in its place; by FFTW in any case.
    void row(Complex* line);
    // `tile` columns that stand beside each other in rows of `tile` points, in their place, at a cache line.
    void columns(Complex* rows);
    // `abreast` lines that fill cache lines; `next` are successive ones that come next, or null.
    void abreast(From from, To to, const Factors& factors, const double* next = nullptr) const;

private:
    struct Plans;
    struct Free {
        void operator()(double* memory) const { std::free(memory); }
    };
    std::int64_t length_ = 0;
    std::optional<Radices> radices_{};
    std::unique_ptr<double, Free> work_{};
    std::unique_ptr<Plans> plans_{};
};

}  // namespace leadline::ft
