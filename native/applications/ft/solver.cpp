#include "applications/ft/solver.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>

#include "applications/ft/fused.hpp"
#include "applications/ft/planes.hpp"

namespace leadline::ft {
namespace {

constexpr int arrays = 3;  // of a rank's part of the grid: the state, what leaves (unless fused), what lands

double logarithm(std::int64_t length) {
    return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(length)) - 1);
}

}  // namespace

Work transforming(std::int64_t points, std::int64_t length) {
    const auto all = static_cast<double>(points);
    return {.flops = 5 * all * logarithm(length), .bytes = 2 * all * number};
}

Work evolving(std::int64_t points) { return {.flops = 3 * static_cast<double>(points), .bytes = 0}; }

Work beginning(std::int64_t points) {
    const auto all = static_cast<double>(points);
    return {.flops = 8 * all, .bytes = all * number};
}

std::int64_t part_of(const Problem& problem, std::int64_t ranks) { return problem.points() / ranks; }

std::unique_ptr<Solver> Solver::of(Run& run, const Problem& problem, const Options& options) {
    if (options.fused) return std::make_unique<Fused>(run, problem, options);
    return std::make_unique<Planes>(run, problem, options);
}

std::int64_t Solver::memory(const Problem& problem, int ranks, const Options& options) {
    return memory_of(problem, ranks, options.fused ? arrays - 1 : arrays);
}

Solver::Solver(Run& run, const Problem& problem, const Options& options)
    : run_(run),
      problem_(problem),
      options_(options),
      ranks_(run.ranks()),
      rank_(run.rank()),
      split_(run),
      computes_(Control::computes && run.verifies()) {}

Complex* Solver::reserved(std::int64_t points) {
    if (!computes_) {
        const std::int64_t bytes = Control::computes ? number : points * number;
        return reinterpret_cast<Complex*>(run_.buffers(bytes)[0].data());
    }
    // A column's points are pages apart.
    memory_.push_back(large_pages(static_cast<std::size_t>(points * number)));
    return reinterpret_cast<Complex*>(memory_.back().get());
}

Task<> Solver::alone(double& took) {
    const Split before = split_;
    const std::int64_t messages = messages_;
    const std::int64_t bytes = bytes_;
    co_await run_.world().barrier();
    const double began = run_.now();
    alone_ = true;
    co_await handed_over();
    alone_ = false;
    took = run_.now() - began;
    co_await run_.world().barrier();
    split_ = before;
    messages_ = messages;
    bytes_ = bytes;
}

Task<> Solver::settle(Window& window) {
    for (std::int64_t turn = 1; turn < ranks_; ++turn)
        co_await window.notify(static_cast<int>((rank_ + turn) % ranks_));
    notices_ += ranks_ - 1;
    co_await window.notified(notices_);
}

Task<> Solver::sum_up(Complex mine) {
    std::array<double, 2> part{mine.real(), mine.imag()};
    std::array<double, 2> all{};
    const Bytes from = std::as_writable_bytes(std::span(part));
    const Bytes to = std::as_writable_bytes(std::span(all));
    co_await run_.world().allreduce(from, to, Type::float64, Reduce::sum);
    if (computes_) checksums_.emplace_back(all[0], all[1]);
    split_.lap(Spent::barrier);
}

}  // namespace leadline::ft
