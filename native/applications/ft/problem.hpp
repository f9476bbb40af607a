// The problems of NAS FT: grids, iterations, published checksums, and the memory that each takes.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::ft {

using Complex = std::complex<double>;

inline constexpr std::int64_t number = sizeof(Complex);  // B, of one point of the grid

struct Problem {
    std::string_view name;
    std::int64_t nx;  // the fastest index of the published initial state
    std::int64_t ny;
    std::int64_t nz;
    int iterations;
    std::span<const Complex> checksums;  // published, of each iteration (Bailey et al., NPB 2 and 3)

    [[nodiscard]] std::int64_t points() const { return nx * ny * nz; }
};

const Problem& problem(std::string_view name);  // throws std::logic_error where there is none
std::vector<std::string> problem_names();

// Memory that one of `ranks` takes for `arrays` parts of the grid, B.
inline std::int64_t memory_of(const Problem& problem, int ranks, int arrays) {
    return arrays * problem.points() / ranks * number;
}

// Memory that this host has left, B; 0 where it does not tell.
std::int64_t memory_left();

std::string told(std::int64_t bytes);  // "3.2 GiB"
std::string told(Complex checksum);    // "(554.6087004964, 484.5363331978)"

}  // namespace leadline::ft
