#include "applications/jacobi/rows.hpp"

#include <array>
#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace leadline::jacobi {
namespace {

constexpr double sixth = 1.0 / 6.0;

inline double mean(const Stencil& from, std::ptrdiff_t i) {
    return (((from.own[i - 1] + from.own[i + 1]) + (from.before[i] + from.after[i])) +
            (from.below[i] + from.above[i])) *
           sixth;
}

// What the compiler makes of it for the least processor of its kind.
void plain_update(double* __restrict to, const Stencil& from, std::ptrdiff_t count) {
    const double* own = from.own;
    const double* before = from.before;
    const double* after = from.after;
    const double* below = from.below;
    const double* above = from.above;
    for (std::ptrdiff_t i = 0; i < count; ++i)
        to[i] = (((own[i - 1] + own[i + 1]) + (before[i] + after[i])) + (below[i] + above[i])) * sixth;
}

void plain_stack(double* to, const double* from, const Stack& stack, std::ptrdiff_t count) {
    for (std::ptrdiff_t each = 0; each < stack.planes; ++each)
        plain_update(to + each * stack.plane, stencil_at(from + each * stack.plane, stack), count);
}

void plain_copy(double* __restrict to, const double* __restrict from, std::ptrdiff_t count) {
    for (std::ptrdiff_t i = 0; i < count; ++i) to[i] = from[i];
}

#ifdef __x86_64__

// Numbers until `to` stands where a vector may be streamed to.
inline std::ptrdiff_t until_aligned(const double* to, std::uintptr_t bytes, std::ptrdiff_t count) {
    const auto over = reinterpret_cast<std::uintptr_t>(to) % bytes;
    const auto before = static_cast<std::ptrdiff_t>(over ? (bytes - over) / sizeof(double) : 0);
    return before < count ? before : count;
}

constexpr std::ptrdiff_t line = 8;  // numbers in a cache line
// Numbers by which a stack of rows fetches what it will need from memory: the hardware looks ahead along the
// rows it has seen, but no farther than a page, and a row is not much longer than one.
constexpr std::ptrdiff_t ahead = 128;

// The functions for vectors of a kind: intrinsics may only be used in functions of their own target,
// which templates and lambdas do not inherit from their callers. A mean of the six neighbours of `i` on.
#define LEADLINE_MEAN(prefix, from, i, factor)                                                              \
    prefix##_mul_pd(                                                                                        \
        prefix##_add_pd(                                                                                    \
            prefix##_add_pd(prefix##_add_pd(prefix##_loadu_pd((from).own + (i)-1),                          \
                                            prefix##_loadu_pd((from).own + (i) + 1)),                       \
                            prefix##_add_pd(prefix##_loadu_pd((from).before + (i)),                         \
                                            prefix##_loadu_pd((from).after + (i)))),                        \
            prefix##_add_pd(prefix##_loadu_pd((from).below + (i)), prefix##_loadu_pd((from).above + (i)))), \
        factor)
// An update begins its cache lines at `head` and ends each vector with `store`.
#define LEADLINE_UPDATE(name, isa, vector, lanes, prefix, head, store)                               \
    __attribute__((target(isa))) void name(double* to, const Stencil& given, std::ptrdiff_t count) { \
        const Stencil from = given;                                                                  \
        const vector factor = prefix##_set1_pd(sixth);                                               \
        std::ptrdiff_t i = 0;                                                                        \
        for (const std::ptrdiff_t first = (head); i < first; ++i) to[i] = mean(from, i);             \
        for (; i + line <= count; i += line) {                                                       \
            _mm_prefetch(from.next + i, _MM_HINT_T1);                                                \
            for (std::ptrdiff_t j = i; j < i + line; j += (lanes))                                   \
                store(to + j, LEADLINE_MEAN(prefix, from, j, factor));                               \
        }                                                                                            \
        for (; i < count; ++i) to[i] = mean(from, i);                                                \
    }
#define LEADLINE_ROWS(kind, isa, vector, lanes, prefix)                                                     \
    LEADLINE_UPDATE(kind##_update, isa, vector, lanes, prefix, 0, prefix##_storeu_pd)                       \
    LEADLINE_UPDATE(kind##_stream, isa, vector, lanes, prefix, until_aligned(to, sizeof(vector), count),    \
                    prefix##_stream_pd)                                                                     \
    __attribute__((target(isa))) void kind##_stack(double* to, const double* from, const Stack& given,      \
                                                   std::ptrdiff_t count) {                                  \
        const Stack stack = given;                                                                          \
        const vector factor = prefix##_set1_pd(sixth);                                                      \
        const std::ptrdiff_t first = until_aligned(to, line * sizeof(double), count);                       \
        const std::ptrdiff_t whole = first + (count - first) / line * line;                                 \
        for (std::ptrdiff_t each = 0; each < stack.planes; ++each) {                                        \
            const Stencil all = stencil_at(from + each * stack.plane, stack);                               \
            double* result = to + each * stack.plane;                                                       \
            for (std::ptrdiff_t i = 0; i < first; ++i) result[i] = mean(all, i);                            \
            for (std::ptrdiff_t i = whole; i < count; ++i) result[i] = mean(all, i);                        \
        }                                                                                                   \
        for (std::ptrdiff_t i = first; i < whole; i += line)                                                \
            for (std::ptrdiff_t each = 0; each < stack.planes; ++each) {                                    \
                const Stencil all = stencil_at(from + each * stack.plane + i, stack);                       \
                double* result = to + each * stack.plane + i;                                               \
                const bool last = each + 1 == stack.planes;                                                 \
                _mm_prefetch((last ? all.own : all.after) + stack.plane + ahead, _MM_HINT_T0);              \
                for (std::ptrdiff_t j = 0; j < line; j += (lanes))                                          \
                    prefix##_stream_pd(result + j, LEADLINE_MEAN(prefix, all, j, factor));                  \
            }                                                                                               \
    }                                                                                                       \
    __attribute__((target(isa))) void kind##_copy(double* to, const double* from, std::ptrdiff_t count) {   \
        std::ptrdiff_t i = 0;                                                                               \
        for (const auto head = until_aligned(to, sizeof(vector), count); i < head; ++i) to[i] = from[i];    \
        for (; i + (lanes) <= count; i += (lanes)) prefix##_stream_pd(to + i, prefix##_loadu_pd(from + i)); \
        for (; i < count; ++i) to[i] = from[i];                                                             \
    }

LEADLINE_ROWS(sse2, "sse2", __m128d, 2, _mm)
LEADLINE_ROWS(avx2, "avx2", __m256d, 4, _mm256)
LEADLINE_ROWS(avx512, "avx512f", __m512d, 8, _mm512)

#undef LEADLINE_ROWS
#undef LEADLINE_UPDATE
#undef LEADLINE_MEAN

constexpr std::array all{
    Rows{.name = "plain",
         .update = plain_update,
         .stream = plain_update,
         .stream_stack = plain_stack,
         .copy = plain_copy},
    Rows{.name = "sse2",
         .update = sse2_update,
         .stream = sse2_stream,
         .stream_stack = sse2_stack,
         .copy = sse2_copy},
    Rows{.name = "avx2",
         .update = avx2_update,
         .stream = avx2_stream,
         .stream_stack = avx2_stack,
         .copy = avx2_copy},
    Rows{.name = "avx512",
         .update = avx512_update,
         .stream = avx512_stream,
         .stream_stack = avx512_stack,
         .copy = avx512_copy},
};

std::size_t known() {
    if (__builtin_cpu_supports("avx512f")) return 4;
    return __builtin_cpu_supports("avx2") ? 3 : 2;
}

#else

// Elsewhere the compiler's own vectors. Its streaming stores, where it has some, are no portable ones.
constexpr std::array all{Rows{.name = "plain",
                              .update = plain_update,
                              .stream = plain_update,
                              .stream_stack = plain_stack,
                              .copy = plain_copy}};

std::size_t known() { return 1; }

#endif

}  // namespace

std::size_t kinds() {
    static const std::size_t count = known();
    return count;
}

const Rows& kind(std::size_t index) { return all.at(index); }

const Rows& rows() { return all.at(kinds() - 1); }

}  // namespace leadline::jacobi
