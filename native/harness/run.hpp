// What a benchmark's body holds in its hand: the point that is asked, buffers, the sample loop.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "harness/declaration.hpp"
#include "harness/sampler.hpp"

namespace leadline {

// Equal buffers of one arena, as many as a power of two; any index will do. Successive indices lie far apart,
// so that a hardware prefetcher does not undo the rotation; the index costs a multiplication and a mask.
class Buffers {
public:
    Buffers(std::byte* base, std::size_t bytes, std::size_t stride, std::size_t count)
        : base_(base), bytes_(bytes), stride_(stride), mask_(count - 1), step_(count > 64 ? 0x9E3779B1 : 1) {}
    Bytes operator[](std::size_t i) const {
        // One buffer: known at once, instead of after two multiplications that start when the last message is
        // in.
        if (mask_ == 0) return {base_, bytes_};
        return {base_ + stride_ * ((i * step_) & mask_), bytes_};
    }
    [[nodiscard]] std::size_t count() const { return mask_ + 1; }

private:
    std::byte* base_;
    std::size_t bytes_;
    std::size_t stride_;
    std::size_t mask_;
    std::size_t step_;  // odd, so that every buffer has its turn
};

// Memory that lives as long as the program, so that pages are touched once and not for each point.
class Arena {
public:
    // At least `bytes` of touched memory, page-aligned; the same memory for the same `slot` each time.
    std::byte* reserve(std::size_t slot, std::size_t bytes);

private:
    struct Free {
        void operator()(std::byte* memory) const;
    };
    struct Slot {
        std::unique_ptr<std::byte, Free> memory;
        std::size_t bytes = 0;
    };
    std::map<std::size_t, Slot> slots_;
};

// The point was not run because ...: thrown by Run::skip, caught by the harness on every rank.
struct Skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using Point = std::map<std::string, Value>;

class Run {
public:
    Run(const Declaration& benchmark, Point point, Comm world, Control& control, Arena& arena, Limits limits);

    [[nodiscard]] Comm& world() { return world_; }
    [[nodiscard]] std::int64_t operator[](const std::string& sweep) const;  // a number of the point
    [[nodiscard]] const std::string& word(const std::string& sweep) const;  // a word of the point

    // At least `count` buffers of `bytes`, filled; a second call gives other memory.
    Buffers buffers(std::int64_t bytes, std::int64_t count = 1);
    // "reused": one buffer; "rotated": as many as fill `rotation()` bytes before one comes round again.
    Buffers buffers(std::int64_t bytes, const std::string& use);

    // Twice the last-level cache, but not more than costs more than the measurement (64 MiB): on a host that
    // shows a cache of hundreds of mebibytes rotated buffers stay within it, and the launch's facts say so.
    static std::size_t rotation();

    // Not run, and why: ends the body on this rank. Every rank must come to the same conclusion.
    [[noreturn]] static void skip(const std::string& reason) { throw Skipped(reason); }

    // True while another sample is wanted; ranks leave it together.
    Task<bool> next_sample();

    // The operations of one sample, 0, 1, ...
    struct Batch {
        struct Iterator {
            std::size_t i;
            std::size_t operator*() const { return i; }
            Iterator& operator++() {
                ++i;
                return *this;
            }
            bool operator!=(const Iterator& other) const { return i != other.i; }
        };
        std::size_t size;
        [[nodiscard]] static Iterator begin() { return {0}; }
        [[nodiscard]] Iterator end() const { return {size}; }
    };
    [[nodiscard]] Batch batch() const { return {static_cast<std::size_t>(batch_)}; }

    void start() { started_ = control_.now(); }
    void stop() { elapsed_ = control_.now() - started_; }
    [[nodiscard]] double elapsed() const { return elapsed_; }  // of the sample, s
    [[nodiscard]] double each() const {
        return elapsed_ / static_cast<double>(batch_);
    }  // of one operation, s
    [[nodiscard]] double now() const { return control_.now(); }
    auto busy(double seconds) { return control_.busy(seconds); }
    auto work(std::int64_t steps) { return control_.work(steps); }

    // This rank's value of a metric for this sample, in the metric's SI unit.
    void sample(std::string_view metric, double value);

    // What rank 0 has at the end.
    [[nodiscard]] const Sampler& sampler() const { return sampler_; }
    [[nodiscard]] double began() const { return began_; }

private:
    [[nodiscard]] const Value& value(const std::string& sweep) const;
    Task<> conclude_sample();

    const Declaration& benchmark_;
    Point point_;
    Comm world_;
    Control& control_;
    Arena& arena_;
    std::size_t arena_slot_ = 0;
    Sampler sampler_;
    bool sampling_ = false;
    long batch_ = 1;
    double began_ = 0;
    double started_ = 0;
    double elapsed_ = 0;
    std::vector<double> mine_;  // elapsed, then a value for each metric
    std::vector<double> all_;   // the same of every rank, on rank 0
};

// How the values of the ranks become one; not-a-number where no rank gave one.
double fold(Over over, const std::vector<double>& of_ranks);

}  // namespace leadline
