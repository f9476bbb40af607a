#include "harness/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/statistics.hpp"

namespace leadline {
namespace {

// One hold-up can spend a short point's whole time in its first sample: the point then runs on until it has a
// few samples, though not beyond this many times its time.
constexpr int few = 3;
constexpr double overtime = 5;

// An operation of which this many do not fill a sample takes no time at all.
constexpr long most_operations = 1L << 30;
// Of a simulated one so many are enough, since each costs time of this host.
constexpr long most_exact = 4096;

}  // namespace

Sampler::Sampler(const Declaration& benchmark, Limits limits)
    : benchmark_(benchmark),
      limits_(limits),
      batch_found_(benchmark.sampling.one_operation),
      samples_(benchmark.metrics.size()) {}

void Sampler::take(double elapsed, const std::vector<double>& values, double since_begin) {
    // What only showed how many operations fill an exact sample is no answer.
    if (limits_.exact && benchmark_.sampling.overlapping && !batch_found_ && !fewest(elapsed)) return;
    for (std::size_t i = 0; i < samples_.size(); ++i) samples_[i].push_back(values[i]);
    if (limits_.exact) {
        stopped_by_ = "exact";
    } else if (!batch_found_) {
        ++warmup_;
        find_batch(elapsed);
        // A point so slow that it never settles keeps its last samples rather than none.
        if (since_begin >= limits_.time * overtime) {
            warmup_ = std::max(0, static_cast<int>(samples_.front().size()) - few);
            stopped_by_ = "time";
        }
    } else if (settling_ < limits_.warmup && since_begin < limits_.time / 2) {
        ++settling_;
        ++warmup_;
    } else {
        judge(since_begin);
    }
}

// Grows the batch until two samples in a row are long enough: one may have been long only because the rank
// was held up, and the batch would stay too small for good.
void Sampler::find_batch(double elapsed) {
    if (elapsed >= limits_.floor || batch_ >= most_operations) {
        batch_found_ = std::exchange(long_enough_, true);
        return;
    }
    long_enough_ = false;
    const double wanted = limits_.floor * 1.2;
    const double factor = std::max(2.0, std::ceil(wanted / std::max(elapsed, limits_.floor / 64)));
    batch_ = std::min(most_operations, batch_ * static_cast<long>(factor));
}

// Exactly so many, found by halving: with the first that are long enough, a slower operation could have a
// larger batch, and so a shorter share of what passes before the first is over.
bool Sampler::fewest(double elapsed) {
    const bool fills = elapsed >= limits_.floor || elapsed == 0 || batch_ >= most_exact;
    (fills ? enough_ : few_) = batch_;
    if (enough_ == batch_ && few_ == batch_ - 1) return true;
    if (enough_ == 0) batch_ *= 2;
    else batch_ = enough_ - few_ == 1 ? enough_ : few_ + (enough_ - few_) / 2;
    return false;
}

void Sampler::judge(double since_begin) {
    const auto count = samples_.front().size() - static_cast<std::size_t>(warmup_);
    if (since_begin >= limits_.time &&
        (count >= std::size_t{few} || since_begin >= limits_.time * overtime)) {
        stopped_by_ = "time";
    } else if (benchmark_.sampling.whole_time || count < static_cast<std::size_t>(limits_.least)) {
        return;
    } else if (count >= static_cast<std::size_t>(limits_.most)) {
        stopped_by_ = "samples";
    } else if (std::ranges::all_of(samples_, [&](const auto& each) {
                   const auto metric = static_cast<std::size_t>(&each - samples_.data());
                   const auto values = kept(metric);
                   return values.empty() || width(median(values), metric) <= limits_.tolerance;
               })) {
        stopped_by_ = "tolerance";
    }
}

// Half of an interval's width: of a share, which may be nothing, as it is; else relative to the median.
double Sampler::width(const Median& found, std::size_t metric) const {
    if (benchmark_.metrics[metric].unit == Unit::one) return (found.high - found.low) / 2;
    return found.relative();
}

std::vector<double> Sampler::kept(std::size_t metric) const {
    std::vector<double> values;
    const auto& all = samples_[metric];
    std::copy_if(all.begin() + warmup_, all.end(), std::back_inserter(values),
                 [](double value) { return !std::isnan(value); });
    return values;
}

}  // namespace leadline
