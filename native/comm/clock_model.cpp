#include "comm/clock_model.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace leadline {
namespace {

// No clock of a computer is taken to drift by more, as long as samples do not tell it better.
constexpr double worst_drift = 1e-4;
constexpr double confidence = 2;  // standard errors

// The sums of a weighted straight line, about the weighted middle of the samples.
struct Sums {
    double weight = 0;
    double middle = 0;  // local
    double offset = 0;
    double spread = 0;  // weighted squares of the distance from the middle
    double slope = 0;
    // At most, if every sample was delayed on one way alone: all of them on the same for the offset, and for
    // the slope early ones on the one, late ones on the other, as ranks that take turns on a core are.
    double offset_doubt = 0;
    double slope_doubt = 0;
};

double weigh(const ClockSample& sample, double least, double resolution) {
    const double doubt = resolution + (sample.round_trip - least) / 2;
    return 1 / (doubt * doubt);
}

Sums sum_up(std::span<const ClockSample> samples, double least, double resolution) {
    Sums sums;
    for (const ClockSample& each : samples) {
        const double weight = weigh(each, least, resolution);
        sums.weight += weight;
        sums.middle += weight * (each.local - samples[0].local);
        sums.offset += weight * (each.common - each.local);
        sums.offset_doubt += weight * (each.round_trip / 2);
    }
    sums.middle = samples[0].local + sums.middle / sums.weight;
    sums.offset /= sums.weight;
    sums.offset_doubt /= sums.weight;
    double rise = 0;
    for (const ClockSample& each : samples) {
        const double weight = weigh(each, least, resolution);
        const double distance = each.local - sums.middle;
        sums.spread += weight * distance * distance;
        rise += weight * distance * (each.common - each.local - sums.offset);
        sums.slope_doubt += weight * std::abs(distance) * (resolution + each.round_trip / 2);
    }
    if (sums.spread > 0) {
        sums.slope = rise / sums.spread;
        sums.slope_doubt /= sums.spread;
    }
    return sums;
}

// How much farther from the line samples lie than their weights say; at least 1.
double excess_of(std::span<const ClockSample> samples, const Sums& sums, double least, double resolution) {
    double squares = 0;
    for (const ClockSample& each : samples) {
        const double found = sums.offset + sums.slope * (each.local - sums.middle);
        const double away = each.common - each.local - found;
        squares += weigh(each, least, resolution) * away * away;
    }
    const double freedom = static_cast<double>(samples.size()) - 2;
    return std::max(1.0, std::sqrt(squares / std::max(1.0, freedom)));
}

}  // namespace

double ClockModel::error(double local) const { return error_ + drift_error_ * std::abs(local - at_); }

ClockModel ClockModel::doubtful(double at, double error, double drift_error) {
    ClockModel model;
    model.at_ = at;
    model.error_ = error;
    model.drift_error_ = drift_error;
    return model;
}

ClockModel ClockModel::then(const ClockModel& reference) const {
    ClockModel both;
    const double between = common(at_);
    both.at_ = at_;
    both.offset_ = reference.common(between) - at_;
    both.drift_ = drift_ + reference.drift_ + drift_ * reference.drift_;
    both.error_ = error_ + reference.error(between);
    both.drift_error_ = drift_error_ + reference.drift_error_;
    return both;
}

ClockModel ClockModel::fit(std::span<const ClockSample> samples, double resolution) {
    if (samples.empty()) throw std::invalid_argument("a clock model wants at least one round trip");
    const double least = shortest(samples).round_trip;
    Sums sums = sum_up(samples, least, resolution);
    double slope_error = worst_drift;
    if (samples.size() > 2 && sums.spread > 0) {
        const double excess = excess_of(samples, sums, least, resolution);
        slope_error = std::max(sums.slope_doubt, confidence * excess / std::sqrt(sums.spread));
    }
    if (slope_error >= worst_drift) {
        slope_error = worst_drift;
        sums.slope = 0;
    }
    const double excess = excess_of(samples, sums, least, resolution);
    ClockModel model;
    model.at_ = sums.middle;
    model.offset_ = sums.offset;
    model.drift_ = sums.slope;
    model.error_ =
        resolution + std::max(sums.offset_doubt, least / 2 + confidence * excess / std::sqrt(sums.weight));
    model.drift_error_ = slope_error;
    return model;
}

ClockSample shortest(std::span<const ClockSample> samples) {
    if (samples.empty()) throw std::invalid_argument("of no round trips none is the shortest");
    return *std::ranges::min_element(samples, {}, &ClockSample::round_trip);
}

}  // namespace leadline
