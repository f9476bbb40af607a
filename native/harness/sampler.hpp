// When is a point answered? Takes the samples as they come, sets the batch, and says when to stop.
#pragma once

#include <string>
#include <vector>

#include "harness/declaration.hpp"
#include "harness/statistics.hpp"

namespace leadline {

struct Limits {
    double tolerance = 0.02;  // half-width of the median's 95 % interval that is tight enough, relative to it
    double time = 0.01;       // s; sampling ends when this is spent
    double floor = 20e-6;     // s; a sample must last at least this long for the clock
    int least = 12;           // samples before tolerance may end it
    int most = 400;           // samples at which it ends anyway
    bool exact = false;       // every sample would be the same: one is enough
    int warmup = 2;           // samples after the batch is found that still count as warm-up
};

// The samples of one point on rank 0: a value a metric each.
class Sampler {
public:
    Sampler(const Declaration& benchmark, Limits limits);

    // Takes one sample: the longest time that a rank's batch took, a value for each metric (not-a-number
    // where the benchmark gave none), and the time since the point began, all in SI units.
    void take(double elapsed, const std::vector<double>& values, double since_begin);

    // Samples are single operations, whatever the benchmark's other points have; said before the first.
    void single() { batch_found_ = true; }

    [[nodiscard]] bool done() const { return !stopped_by_.empty(); }
    [[nodiscard]] long batch() const { return batch_; }
    [[nodiscard]] int warmup() const { return warmup_; }
    [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
    [[nodiscard]] const std::vector<std::vector<double>>& samples() const { return samples_; }

private:
    void find_batch(double elapsed);
    // Whether a sample has the fewest operations that last long enough.
    [[nodiscard]] bool fewest(double elapsed);
    void judge(double since_begin);
    [[nodiscard]] double width(const Median& found, std::size_t metric) const;
    [[nodiscard]] std::vector<double> kept(std::size_t metric) const;

    const Declaration& benchmark_;
    Limits limits_;
    long batch_ = 1;
    bool batch_found_;
    long few_ = 0;              // an exact sample of so many is too short,
    long enough_ = 0;           // of so many long enough; 0: not known
    bool long_enough_ = false;  // the last sample was, at this batch
    int warmup_ = 0;            // samples so far that are warm-up
    int settling_ = 0;          // warm-up samples since the batch was found
    std::string stopped_by_;
    std::vector<std::vector<double>> samples_;  // a list for each metric
};

}  // namespace leadline
