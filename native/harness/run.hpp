// What a benchmark's body holds in its hand: the point that is asked, buffers, the sample loop.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
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
    // At least `bytes` of touched memory, page-aligned; the same memory for the same `slot` each time, but
    // more where more is asked for. Simulated ranks share it, so what has been outgrown stays for those that
    // have it.
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
    std::vector<Slot> outgrown_;
};

// The point was not run because ...: thrown by Run::skip, caught by the harness on every rank.
struct Skipped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What the ranks of one process share of the point that is asked: on a real machine one rank's, on a
// simulated one everybody's.
class SharedPoint {
public:
    SharedPoint(const Declaration& benchmark, Point point, Arena& arena, Limits limits)
        : benchmark(benchmark), point(std::move(point)), arena(arena), sampler(benchmark, limits) {}

    const Declaration& benchmark;
    Point point;
    Arena& arena;
    Sampler sampler;  // rank 0's
    double began = 0;
    std::int64_t batch = 1;
    // Where ranks start by the clock: how late the latest came to each sample, 0 where none was, s; and how
    // far the clock may be wrong, s.
    bool isolated = false;
    std::vector<double> late;
    double clock_error = 0;
    std::optional<std::string> wrong;  // the first of its results that this process found to be wrong
    std::vector<std::shared_ptr<const void>> known;  // what `once` found, in the order of the calls
    std::string directory = ".";                     // where the benchmark may write files
    std::function<void()> first_sample;              // told on every process before it takes its first one
};

// What a rank has of a sample: the time elapsed, or where ranks start by the clock how late this one was;
// then a value for each metric. Those of a few metrics need no memory of their own: a million ranks have one
// each.
class Values {
public:
    explicit Values(std::size_t metrics)
        : count_(metrics + 1), more_(count_ > few_.size() ? new double[count_] : nullptr) {
        clear();
    }
    double& operator[](std::size_t i) { return data()[i]; }
    double operator[](std::size_t i) const { return data()[i]; }
    [[nodiscard]] std::span<const double> all() const { return {data(), count_}; }
    void clear();

private:
    [[nodiscard]] double* data() { return more_ ? more_.get() : few_.data(); }
    [[nodiscard]] const double* data() const { return more_ ? more_.get() : few_.data(); }
    std::size_t count_;
    std::array<double, 4> few_{};
    std::unique_ptr<double[]> more_;  // NOLINT(modernize-avoid-c-arrays): no more than a pointer
};

class Run {
public:
    Run(SharedPoint& asked, Comm world, Control control);

    [[nodiscard]] Comm& world() { return world_; }
    [[nodiscard]] int rank() const { return world_.rank(); }
    [[nodiscard]] int ranks() const { return world_.size(); }
    [[nodiscard]] std::int64_t operator[](std::string_view sweep) const;  // a number of the point
    [[nodiscard]] const std::string& word(std::string_view sweep) const;  // a word of the point
    [[nodiscard]] const std::string& benchmark() const { return asked_->benchmark.name; }
    // Where files may be written; ranks of all nodes see the same one.
    [[nodiscard]] const std::string& directory() const { return asked_->directory; }

    // What `find` returns: looked for once, however many ranks of the machine this process plays. It must not
    // depend on the rank.
    template <class Find>
    const auto& once(Find find) {
        using Found = decltype(find());
        auto& known = asked_->known;
        if (known_ == known.size()) known.push_back(std::make_shared<const Found>(find()));
        return *static_cast<const Found*>(known[known_++].get());
    }

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
    auto next_sample() {
        using Agreement = decltype(control_.agree({}, Decide(*this)));
        struct Next {
            Run& run;
            Agreement agreement;
            bool await_ready() { return agreement.await_ready(); }
            auto await_suspend(std::coroutine_handle<> rank) { return agreement.await_suspend(rank); }
            bool await_resume() { return run.begin_sample(agreement.await_resume()); }
        };
        const std::span<const double> mine = sampling_ ? mine_.all() : std::span<const double>();
        return Next{*this, control_.agree(mine, Decide(*this))};
    }

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
    [[nodiscard]] Batch batch() const { return {static_cast<std::size_t>(asked_->batch)}; }

    // The samples of this point are single operations that all ranks start at one moment of a common clock;
    // said before the first sample, by all ranks.
    void isolate() {
        asked_->isolated = true;
        asked_->sampler.single();
    }
    // On all ranks: returns at that moment, or late.
    auto align() {
        using Moment = decltype(control_.align());
        struct Start {
            Run& run;
            Moment moment;
            bool await_ready() { return moment.await_ready(); }
            auto await_suspend(std::coroutine_handle<> rank) { return moment.await_suspend(rank); }
            void await_resume() { run.mine_[0] = std::max(run.mine_[0], moment.await_resume()); }
        };
        return Start{*this, control_.align()};
    }
    [[nodiscard]] double since_start() const { return control_.since_start(); }

    void start() { started_ = control_.now(); }
    void stop() { mine_[0] = control_.now() - started_; }
    [[nodiscard]] double elapsed() const { return mine_[0]; }  // of the sample, s
    [[nodiscard]] double each() const {
        return elapsed() / static_cast<double>(asked_->batch);
    }  // of one operation, s
    [[nodiscard]] double now() const { return control_.now(); }
    // Computes, where a processor does that; elsewhere the time of `work` passes instead.
    template <class Compute>
    auto compute(Work work, Compute compute) {
        if constexpr (Control::computes) compute();
        return control_.charge(work);
    }
    // This rank's result is right, or in what it is wrong, a sentence without its end. May be said by any
    // rank at any time: the program goes on, and at the end the point is invalid if one rank said so. Where
    // messages bring nothing (a described machine, the mock) no result can be right, and nothing is said.
    void verify(bool right, const std::string& wrong);
    // Whether results can be verified here.
    [[nodiscard]] bool verifies() const { return control_.carries(); }
    auto busy(double seconds) { return control_.busy(seconds); }
    // What a computation of so many seconds on a core of its own takes on the rank's core, s. A real
    // processor shows it by itself.
    [[nodiscard]] double on_shared_core(double seconds) const { return control_.on_shared_core(seconds); }
    // That was in memory of its own of so many bytes: a described machine may have lost its caches to it.
    void walked(double seconds, double memory) { control_.walked(seconds, memory); }
    auto turn(bool sends) { return control_.turn(sends); }
    auto work(std::int64_t steps) { return control_.work(steps); }
    // Where a described machine knows of which of its constants this rank's time is made: of these, so far.
#ifdef LEADLINE_PARTS
    [[nodiscard]] auto made_of() const { return control_.made_of(); }
#endif

    // This rank's value of a metric for this sample, in the metric's SI unit.
    void sample(std::string_view metric, double value);

    // On rank 0: takes the sample that just ended, of which `all` holds each rank's values; none before the
    // first.
    [[nodiscard]] Verdict decide(const std::vector<double>& all);

private:
    [[nodiscard]] const Value& value(std::string_view sweep) const;
    bool begin_sample(Verdict verdict);

    // There is one of these for each of a million ranks: what they share is in SharedPoint.
    SharedPoint* asked_;
    Comm world_;
    Control control_;
    double started_ = 0;
    Values mine_;
    std::uint32_t arena_slot_ = 0;
    std::uint32_t known_ : 31 = 0;
    bool sampling_ : 1 = false;
};

// How a value of each rank becomes one: the first rank's is at `first`, the next one's `step` further.
// Not-a-number where no rank gave one.
double fold(Over over, const std::vector<double>& all, std::size_t first = 0, std::size_t step = 1);

}  // namespace leadline
