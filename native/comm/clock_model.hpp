// How one clock tells the time of another: offset and drift, found from round trips, with what is uncertain.
#pragma once

#include <span>

namespace leadline {

// A question to a reference and its answer, by the clock of who asked.
struct ClockSample {
    double local;       // half-way between question and answer, s
    double common;      // what the reference read in between, s
    double round_trip;  // s
};

// A line from the local clock to the common one. Its error bounds what it tells: no sample is off by more
// than half of its round trip, since nothing tells its two ways apart; where samples scatter more than that
// allows, it is twice the standard error of the line.
class ClockModel {
public:
    ClockModel() = default;  // the clock is the reference
    // The same with a doubt, which is least at one time.
    static ClockModel doubtful(double at, double error, double drift_error);

    [[nodiscard]] double common(double local) const { return local + offset_ + drift_ * (local - at_); }
    [[nodiscard]] double error(double local) const;
    [[nodiscard]] double offset(double local) const { return common(local) - local; }
    [[nodiscard]] double drift() const { return drift_; }
    [[nodiscard]] double drift_error() const { return drift_error_; }

    // The line through this one to what `reference` says of its outcome.
    [[nodiscard]] ClockModel then(const ClockModel& reference) const;

    // The line that samples tell, each worth the less the longer its round trip was: what lasted longer than
    // the least was delayed by as much, on one way or the other. No sample tells nothing: throws
    // std::invalid_argument. `resolution` of the clocks, s.
    static ClockModel fit(std::span<const ClockSample> samples, double resolution);

private:
    double at_ = 0;      // local time at which the offset holds best, s
    double offset_ = 0;  // s
    double drift_ = 0;   // s/s
    double error_ = 0;
    double drift_error_ = 0;
};

// Of several round trips in a row, the shortest.
ClockSample shortest(std::span<const ClockSample> samples);

}  // namespace leadline
