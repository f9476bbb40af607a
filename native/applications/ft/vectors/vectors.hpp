// Fourier transforms of lines that stand abreast: a vector holds one point of several lines.
//
// No point is moved within a vector but for the halves of a complex number, and the first and the last pass
// read and write where the points belong, so that a transform costs two or three passes through the first
// cache. Debian's FFTW has no code for fused multiplications or for vectors of 64 B; this has, where the
// processor does. One body (body.hpp) is compiled for each kind of vector, and the widest that the processor
// has is taken when the program runs.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace leadline::ft {

// Lines in a tile: the points of one place along them fill a cache line.
inline constexpr std::ptrdiff_t abreast = 4;
inline constexpr std::ptrdiff_t halves = 2 * abreast;  // doubles in a tile's row

// A tile: row i begins `apart` doubles behind row i - 1.
struct From {
    const double* at;
    std::ptrdiff_t apart;
};
struct To {
    double* at;
    std::ptrdiff_t apart;
};

// What the points of a tile are multiplied by before the transform: row i by rows[i], each half of a row by
// its of `halves` numbers. Nothing where there are no rows.
struct Factors {
    const double* rows = nullptr;
    const double* lanes = nullptr;
};

// The passes of one length, a power of two from 16 to 4096, and their constants.
class Radices {
public:
    Radices(std::ptrdiff_t length, bool inverse);

    static constexpr std::size_t most = 3;
    std::ptrdiff_t length;
    bool inverse;
    std::size_t passes;
    std::array<int, most> radix{};
    // Of each pass but the last, for its points j of a group: the radix - 1 constants exp(-+ 2 pi i j k / L),
    // k > 0.
    std::array<std::vector<double>, most> constants{};

    // Doubles that a transform needs beside its tile. Parts of the first pass are a line more apart than a
    // power of two.
    [[nodiscard]] std::ptrdiff_t room() const { return (length + radix[0]) * halves; }
    [[nodiscard]] std::ptrdiff_t pitch() const { return (length / radix[0] + 1) * halves; }
};

// The functions for vectors of a kind.
struct Vectors {
    std::string_view name;
    // From tile to tile, which may be the same; `work` has room, and all stand at cache lines. `next` is what
    // is going to be transformed, successive lines, or null.
    void (*transform)(const Radices& radices, From from, To to, const Factors& factors, double* work,
                      const double* next);
    // Turns each four rows of a tile into a square of which the lines are rows: row 4 q + i, line k goes to
    // row k, line i of square q, `apart` doubles behind square q - 1.
    void (*turn)(From from, std::ptrdiff_t rows, To squares);
    // Copies cache lines without reading what they overwrite; `drain_stores` ends it.
    void (*stream)(const double* from, double* to, std::ptrdiff_t doubles);
};

// Of this processor: the widest, and all, the plainest first.
const Vectors& vectors();
std::vector<const Vectors*> all_vectors();

}  // namespace leadline::ft
