// How the harness speaks between ranks, apart from what a benchmark says.
#pragma once

#include <memory>

#include "comm/clock.hpp"
#include "comm/mpi/common_clock.hpp"
#include "comm/mpi/types.hpp"
#include "comm/task.hpp"

namespace leadline {

class Control {
public:
    static constexpr bool computes = true;
    static constexpr bool carries() { return true; }
    explicit Control(MPI_Comm comm);
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] static double now() { return steady_seconds(); }

    Ready<Verdict> agree(std::span<const double> mine, const Decide& decide);
    // Keeps the processor busy for a while without touching memory or the network.
    Ready<> busy(double seconds) {
        for (const double end = now() + seconds; now() < end;) {}
        return {};
    }
    static Ready<> turn(bool) { return {}; }
    static double on_shared_core(double seconds) { return seconds; }
    static void walked(double, double) {}
    Ready<> work(std::int64_t steps) {
        spin(steps);
        return {};
    }
    static Ready<> charge(Work) { return {}; }

    // Of all ranks together.
    Ready<double> align() { return {clock_->align()}; }
    [[nodiscard]] double since_start() const { return clock_->since_start(); }
    [[nodiscard]] double clock_error() const { return clock_->error(); }

private:
    MPI_Comm handle_;
    std::shared_ptr<CommonClock> clock_;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace leadline
