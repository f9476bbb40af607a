// The transforms of vectors.hpp for one kind of vector: included once by each file that is compiled for a
// kind. Everything has internal linkage, for no other file may come to run what was compiled for a wider
// vector.
#pragma once

#include <cstddef>

#include "applications/ft/vectors/vectors.hpp"

#ifdef __x86_64__
#include <immintrin.h>
#endif

// Points are in registers only where loops over them are no loops. Clang does so by itself.
#ifdef __clang__
#define LEADLINE_UNROLLED
#else
#define LEADLINE_UNROLLED _Pragma("GCC unroll 16")
#endif

namespace leadline::ft {
namespace {

#if defined(__AVX512F__)
using V = __m512d;
V load(const double* from) { return _mm512_load_pd(from); }
void store(double* to, V x) { _mm512_store_pd(to, x); }
void streamed(double* to, V x) { _mm512_stream_pd(to, x); }
V all_of(double x) { return _mm512_set1_pd(x); }
V swapped(V x) { return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6); }
// Complex numbers of two vectors: the first two of each, the last two, each other one.
V low(V a, V b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); }
V high(V a, V b) { return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15); }
V even(V a, V b) { return __builtin_shufflevector(a, b, 0, 1, 4, 5, 8, 9, 12, 13); }
V odd(V a, V b) { return __builtin_shufflevector(a, b, 2, 3, 6, 7, 10, 11, 14, 15); }
V times(V x, double real, double imaginary) {
    return _mm512_fmaddsub_pd(x, all_of(real), swapped(x) * all_of(imaginary));
}
#elif defined(__AVX2__)
using V = __m256d;
V load(const double* from) { return _mm256_load_pd(from); }
void store(double* to, V x) { _mm256_store_pd(to, x); }
void streamed(double* to, V x) { _mm256_stream_pd(to, x); }
V all_of(double x) { return _mm256_set1_pd(x); }
V swapped(V x) { return __builtin_shufflevector(x, x, 1, 0, 3, 2); }
V times(V x, double real, double imaginary) {
    return _mm256_fmaddsub_pd(x, all_of(real), swapped(x) * all_of(imaginary));
}
#else
using V = double __attribute__((vector_size(16)));
V load(const double* from) { return V{from[0], from[1]}; }
void store(double* to, V x) {
    to[0] = x[0];
    to[1] = x[1];
}
void streamed(double* to, V x) { store(to, x); }
V all_of(double x) { return V{x, x}; }
V swapped(V x) { return V{x[1], x[0]}; }
V times(V x, double real, double imaginary) {
    return x * all_of(real) + swapped(x) * V{-imaginary, imaginary};
}
#endif

constexpr std::ptrdiff_t width = sizeof(V) / sizeof(double);  // doubles in a vector

// Times -i, and times i in the inverse transform.
template <bool inverse>
V turned(V x) {
    alignas(sizeof(V)) static constexpr auto signs = [] {
        std::array<double, width> all{};
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = (i % 2 == 0) == inverse ? -1 : 1;
        return all;
    }();
    return swapped(x) * load(signs.data());
}

constexpr double half = 0.70710678118654752440;   // cos(pi / 4)
constexpr double large = 0.92387953251128675613;  // cos(pi / 8)
constexpr double small = 0.38268343236508977173;  // sin(pi / 8)

template <bool inverse>
[[gnu::always_inline]] inline void four(V& a, V& b, V& c, V& d) {
    const V sum = a + c;
    const V less = a - c;
    const V other = b + d;
    const V rest = b - d;
    a = sum + other;
    c = sum - other;
    b = less + turned<inverse>(rest);
    d = less - turned<inverse>(rest);
}

// Discrete transforms of R points, in their places and in order.
template <int R, bool inverse>
[[gnu::always_inline]] inline void transformed(V* x) {
    if constexpr (R == 4) {
        four<inverse>(x[0], x[1], x[2], x[3]);
    } else if constexpr (R == 8) {
        four<inverse>(x[0], x[2], x[4], x[6]);
        four<inverse>(x[1], x[3], x[5], x[7]);
        const V one = (x[3] + turned<inverse>(x[3])) * all_of(half);
        const V two = turned<inverse>(x[5]);
        const V three = (turned<inverse>(x[7]) - x[7]) * all_of(half);
        const V even[4] = {x[0], x[2], x[4], x[6]};
        const V odd[4] = {x[1], one, two, three};
        LEADLINE_UNROLLED
        for (int k = 0; k < 4; ++k) {
            x[k] = even[k] + odd[k];
            x[k + 4] = even[k] - odd[k];
        }
    } else {
        static_assert(R == 16);
        constexpr double sign = inverse ? 1 : -1;
        LEADLINE_UNROLLED
        for (int j = 0; j < 4; ++j) four<inverse>(x[j], x[j + 4], x[j + 8], x[j + 12]);
        x[5] = times(x[5], large, sign * small);                  // 1 of 16
        x[6] = (x[6] + turned<inverse>(x[6])) * all_of(half);     // 2
        x[7] = times(x[7], small, sign * large);                  // 3
        x[9] = (x[9] + turned<inverse>(x[9])) * all_of(half);     // 2
        x[10] = turned<inverse>(x[10]);                           // 4
        x[11] = (turned<inverse>(x[11]) - x[11]) * all_of(half);  // 6
        x[13] = times(x[13], small, sign * large);                // 3
        x[14] = (turned<inverse>(x[14]) - x[14]) * all_of(half);  // 6
        x[15] = times(x[15], -large, -sign * small);              // 9
        LEADLINE_UNROLLED
        for (int k = 0; k < 4; ++k) {
            V* y = x + std::ptrdiff_t{4} * k;
            four<inverse>(y[0], y[1], y[2], y[3]);
        }
        LEADLINE_UNROLLED
        for (int k = 0; k < 4; ++k)  // result k + 4 m stands at 4 k + m
            LEADLINE_UNROLLED
        for (int m = k + 1; m < 4; ++m) {
            const V other = x[4 * k + m];
            x[4 * k + m] = x[4 * m + k];
            x[4 * m + k] = other;
        }
    }
}

// Points of a group, each multiplied by its constant.
template <int R>
[[gnu::always_inline]] inline void multiplied(V* x, const double* constants) {
    LEADLINE_UNROLLED
    for (int k = 1; k < R; ++k) x[k] = times(x[k], constants[2 * k - 2], constants[2 * k - 1]);
}

template <int R, bool inverse, bool scaled>
void first(const Radices& radices, From from, const Factors& factors, double* work) {
    const std::ptrdiff_t part = radices.length / R;
    const std::ptrdiff_t pitch = radices.pitch();
    const double* constants = radices.constants[0].data();
    for (std::ptrdiff_t lane = 0; lane < halves; lane += width)
        for (std::ptrdiff_t j = 0; j < part; ++j) {
            V x[R];
            LEADLINE_UNROLLED
            for (int k = 0; k < R; ++k) x[k] = load(from.at + (j + k * part) * from.apart + lane);
            if constexpr (scaled) {
                const V lanes = load(factors.lanes + lane);
                LEADLINE_UNROLLED
                for (int k = 0; k < R; ++k) x[k] *= lanes * all_of(factors.rows[j + k * part]);
            }
            transformed<R, inverse>(x);
            multiplied<R>(x, constants + 2 * std::ptrdiff_t{R - 1} * j);
            LEADLINE_UNROLLED
            for (int k = 0; k < R; ++k) store(work + k * pitch + j * halves + lane, x[k]);
        }
}

// Each part of the first pass by itself, in its place.
template <int R, bool inverse>
void middle(const Radices& radices, double* work) {
    const std::ptrdiff_t parts = radices.radix[0];
    const std::ptrdiff_t part = radices.length / parts / R;
    const double* constants = radices.constants[1].data();
    for (std::ptrdiff_t j = 0; j < part; ++j)
        for (std::ptrdiff_t i = 0; i < parts; ++i)
            for (std::ptrdiff_t lane = 0; lane < halves; lane += width) {
                double* at = work + i * radices.pitch() + j * halves + lane;
                V x[R];
                LEADLINE_UNROLLED
                for (int k = 0; k < R; ++k) x[k] = load(at + k * part * halves);
                transformed<R, inverse>(x);
                multiplied<R>(x, constants + 2 * std::ptrdiff_t{R - 1} * j);
                LEADLINE_UNROLLED
                for (int k = 0; k < R; ++k) store(at + k * part * halves, x[k]);
            }
}

// What the last radix transforms is successive; its results belong as far apart as there are groups. What is
// transformed next is fetched meanwhile: its first pass reads it in an order that no processor foresees.
template <int R, bool inverse>
void last(const Radices& radices, const double* work, To to, const double* next) {
    const std::ptrdiff_t parts = radices.radix[0];
    const std::ptrdiff_t groups = radices.length / parts / R;  // of a part
    for (std::ptrdiff_t lane = 0; lane < halves; lane += width)
        for (std::ptrdiff_t g = 0; g < groups; ++g)
            for (std::ptrdiff_t i = 0; i < parts; ++i) {
                const double* at = work + i * radices.pitch() + g * R * halves + lane;
                V x[R];
                LEADLINE_UNROLLED
                for (int k = 0; k < R; ++k) x[k] = load(at + k * halves);
                transformed<R, inverse>(x);
                if (next) {
                    LEADLINE_UNROLLED
                    for (int k = 0; k < R * width / halves; ++k, next += halves)
                        __builtin_prefetch(next, 0, 2);
                }
                double* result = to.at + (i + parts * g) * to.apart + lane;
                LEADLINE_UNROLLED
                for (int k = 0; k < R; ++k) store(result + k * parts * groups * to.apart, x[k]);
            }
}

template <bool inverse>
void pass_by_pass(const Radices& radices, From from, To to, const Factors& factors, double* work,
                  const double* next) {
    const bool sixteen = radices.radix[0] == 16;
    if (radices.radix[0] == 4)
        factors.rows ? first<4, inverse, true>(radices, from, factors, work)
                     : first<4, inverse, false>(radices, from, factors, work);
    else if (sixteen)
        factors.rows ? first<16, inverse, true>(radices, from, factors, work)
                     : first<16, inverse, false>(radices, from, factors, work);
    else
        factors.rows ? first<8, inverse, true>(radices, from, factors, work)
                     : first<8, inverse, false>(radices, from, factors, work);
    if (radices.passes == 3)
        radices.radix[1] == 16 ? middle<16, inverse>(radices, work) : middle<8, inverse>(radices, work);
    const int end = radices.radix[radices.passes - 1];
    if (end == 16) last<16, inverse>(radices, work, to, next);
    else if (end == 8) last<8, inverse>(radices, work, to, next);
    else last<4, inverse>(radices, work, to, next);
}

void transform(const Radices& radices, From from, To to, const Factors& factors, double* work,
               const double* next) {
    radices.inverse ? pass_by_pass<true>(radices, from, to, factors, work, next)
                    : pass_by_pass<false>(radices, from, to, factors, work, next);
}

void turn(From from, std::ptrdiff_t rows, To squares) {
    for (std::ptrdiff_t q = 0; q < rows / abreast; ++q) {
        const double* at = from.at + q * abreast * from.apart;
        double* to = squares.at + q * squares.apart;
#if defined(__AVX512F__)
        const V a = load(at);
        const V b = load(at + from.apart);
        const V c = load(at + 2 * from.apart);
        const V d = load(at + 3 * from.apart);
        const V ab = low(a, b);  // a0 a1 b0 b1
        const V cd = low(c, d);
        const V later_ab = high(a, b);  // a2 a3 b2 b3
        const V later_cd = high(c, d);
        store(to, even(ab, cd));
        store(to + halves, odd(ab, cd));
        store(to + 2 * halves, even(later_ab, later_cd));
        store(to + 3 * halves, odd(later_ab, later_cd));
#else
        for (std::ptrdiff_t k = 0; k < abreast; ++k)
            for (std::ptrdiff_t i = 0; i < abreast; ++i) {
                to[k * halves + 2 * i] = at[i * from.apart + 2 * k];
                to[k * halves + 2 * i + 1] = at[i * from.apart + 2 * k + 1];
            }
#endif
    }
}

void stream(const double* from, double* to, std::ptrdiff_t doubles) {
    for (std::ptrdiff_t i = 0; i < doubles; i += width) streamed(to + i, load(from + i));
}

}  // namespace
}  // namespace leadline::ft
