// All that a file of native/benchmarks includes.
#pragma once

#include "harness/declaration.hpp"
#include "harness/run.hpp"

// Declares a benchmark: its name, which is its file's, then ranks, sweeps and metrics in any order, then its
// body in braces. The question it answers is the file's first comment line.
#define BENCHMARK(name, ...)                                                                                \
    [[maybe_unused]] static ::leadline::Task<> name##_body(::leadline::Run& run);                           \
    static const ::leadline::Registered name##_registered(#name, BENCHMARK_BODY(name##_body), __VA_ARGS__); \
    static ::leadline::Task<> name##_body(::leadline::Run& run)

// What only describes the benchmarks has no use for their bodies, and leaves them to the compiler to drop.
#ifdef LEADLINE_DESCRIBE
#define BENCHMARK_BODY(body) nullptr
#else
#define BENCHMARK_BODY(body) body
#endif

namespace leadline {

inline Metric metric(std::string name, Unit unit, Better better, Over over, std::string description) {
    return {std::move(name), unit, better, over, std::move(description)};
}

// A metric that is a difference of two measured times.
inline Metric difference(std::string name, Unit unit, Better better, Over over, std::string description) {
    return {std::move(name), unit, better, over, std::move(description), true};
}

using enum Better;
using enum Over;

}  // namespace leadline
