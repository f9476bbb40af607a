// NAS FT on the ranks of a communicator: what all ways of handing planes over have in common.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "applications/ft/grid.hpp"
#include "applications/ft/transforms.hpp"
#include "harness/large_pages.hpp"
#include "harness/run.hpp"

namespace leadline::ft {

// Of what the time of a run is made up.
enum class Spent { fft, evolve, transpose, initiation, completion, barrier };
inline constexpr std::size_t kinds_of_time = 6;

// Adds the time since the last call to one of them.
class Split {
public:
    explicit Split(const Run& run) : run_(&run) {}
    void begin() {
        spent_.fill(0);
        last_ = run_->now();
    }
    void lap(Spent on) {
        const double now = run_->now();
        spent_[static_cast<std::size_t>(on)] += now - last_;
        last_ = now;
    }
    [[nodiscard]] double of(Spent kind) const { return spent_[static_cast<std::size_t>(kind)]; }

private:
    const Run* run_;
    std::array<double, kinds_of_time> spent_{};
    double last_ = 0;
};

struct Options {
    Pieces pieces = Pieces::exchange;
    std::optional<Exposure> window{};  // one-sided by it; else by messages
    std::int64_t depth = 0;            // receives posted ahead; 0: all
    std::int64_t padding = 0;          // points
    int iterations = 0;
    std::int64_t polls = 0;  // tiles between two tests of what is under way; 0: none
    bool fused = false;      // rows are handed over out of the cache, and no copy of them is kept
    bool vectors = false;    // columns are transformed by vectors of our own, not by FFTW
    bool kept = true;        // fused: the result is written to memory, though only its checksum is asked for

    // Rows are stored into memory that ranks share, by no call.
    [[nodiscard]] bool stores() const { return window == Exposure::shared; }
};

// A way of going through the whole benchmark.
class Solver {
public:
    // The way that is asked for.
    static std::unique_ptr<Solver> of(Run& run, const Problem& problem, const Options& options);
    // Memory that a rank takes, B.
    static std::int64_t memory(const Problem& problem, int ranks, const Options& options);

    Solver(Run& run, const Problem& problem, const Options& options);
    virtual ~Solver() = default;
    Solver(const Solver&) = delete;
    Solver& operator=(const Solver&) = delete;
    Solver(Solver&&) = delete;
    Solver& operator=(Solver&&) = delete;

    virtual Task<> open() = 0;
    virtual Task<> solve() = 0;  // the whole of the benchmark, once
    virtual Task<> close() = 0;
    // The communication of one transform back by itself, after what has been solved: s.
    Task<> alone(double& took);

    [[nodiscard]] const Split& split() const { return split_; }
    // What this rank handed over in one transform back, to itself as well, as it was counted.
    [[nodiscard]] std::int64_t messages() const { return messages_; }
    [[nodiscard]] std::int64_t bytes() const { return bytes_; }
    // Each iteration's, of all ranks; nothing on a machine that does not compute.
    [[nodiscard]] std::span<const Complex> checksums() const { return checksums_; }

protected:
    // Hands over what one transform back does; computes nothing where `alone_`.
    virtual Task<> handed_over() = 0;

    // What a rank computes; where messages bring nothing, on a described or played machine, only time passes.
    template <class Compute>
    auto compute(Work work, const Compute& what) {
        return run_.compute(alone_ ? Work{} : work, [&] {
            if (computes_ && !alone_) what();
        });
    }
    // Memory for so many points, at a page. A machine that is played takes none; a simulated one none that is
    // touched.
    Complex* reserved(std::int64_t points);
    // B of a window for so many; a machine that is played takes next to none.
    [[nodiscard]] std::size_t exposed(std::int64_t points) const {
        return static_cast<std::size_t>(computes_ || !Control::computes ? points * number : 1);
    }
    // All that was put, with a notice of its end, has landed, here as well.
    Task<> settle(Window& window);
    // The checksum of an iteration, of which `mine` is this rank's part.
    Task<> sum_up(Complex mine);

    Run& run_;
    const Problem& problem_;
    Options options_;
    std::int64_t ranks_;
    std::int64_t rank_;
    Split split_;
    bool computes_;
    bool alone_ = false;  // nothing is computed, and no time passes for it
    std::int64_t messages_ = 0;
    std::int64_t bytes_ = 0;
    std::vector<Complex> checksums_{};

private:
    std::vector<LargePages> memory_{};
    std::int64_t notices_ = 0;
};

// What transforms of one length need: 5 n log2 n operations a line (as NAS counts them), and each point read
// from memory and written back once.
Work transforming(std::int64_t points, std::int64_t length);
// The multiplications of the evolution: a factor that is a product, times both halves; memory is read anyway.
Work evolving(std::int64_t points);
// Two numbers a point, each by a product and a mask, written once.
Work beginning(std::int64_t points);

std::int64_t part_of(const Problem& problem, std::int64_t ranks);

}  // namespace leadline::ft
