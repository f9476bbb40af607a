#include "applications/ft/vectors/vectors.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

#include "applications/ft/vectors/kinds.hpp"

namespace leadline::ft {
namespace {

// Few passes, and none of more points than fit the registers: 16, or 8 where that makes no more passes.
std::vector<int> radices_of(std::ptrdiff_t length) {
    switch (length) {
        case 16: return {4, 4};
        case 32: return {4, 8};
        case 64: return {8, 8};
        case 128: return {8, 16};
        case 256: return {16, 16};
        case 512: return {8, 8, 8};
        case 1024: return {8, 8, 16};
        case 2048: return {8, 16, 16};
        case 4096: return {16, 16, 16};
        default: throw std::logic_error("no transform of " + std::to_string(length) + " points");
    }
}

}  // namespace

Radices::Radices(std::ptrdiff_t length, bool inverse) : length(length), inverse(inverse) {
    const std::vector<int> all = radices_of(length);
    passes = all.size();
    std::ptrdiff_t left = length;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        radix[pass] = all[pass];
        if (pass + 1 == passes) break;
        const std::ptrdiff_t group = left;
        left /= radix[pass];
        for (std::ptrdiff_t j = 0; j < left; ++j)
            for (std::ptrdiff_t k = 1; k < radix[pass]; ++k) {
                const double angle =
                    2 * std::numbers::pi * static_cast<double>(j * k) / static_cast<double>(group);
                constants[pass].push_back(std::cos(angle));
                constants[pass].push_back(inverse ? std::sin(angle) : -std::sin(angle));
            }
    }
}

std::vector<const Vectors*> all_vectors() {
    std::vector<const Vectors*> all{plain_vectors()};
#ifdef __x86_64__
    if (avx2_vectors() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        all.push_back(avx2_vectors());
    if (avx512_vectors() && __builtin_cpu_supports("avx512f")) all.push_back(avx512_vectors());
#endif
    return all;
}

const Vectors& vectors() {
    static const Vectors& widest = *all_vectors().back();
    return widest;
}

}  // namespace leadline::ft
