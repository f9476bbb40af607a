// What disturbed a rank while it measured, as the kernel tells it.
#pragma once

#include <optional>

namespace leadline {

// Counters of the calling process since it began.
struct Disturbance {
    double run_delay = 0;  // time spent ready to run but waiting for a processor, s
    double switches = 0;   // involuntary context switches
    double cpu = 0;        // processor time used, s

    Disturbance operator-(const Disturbance& earlier) const {
        return {run_delay - earlier.run_delay, switches - earlier.switches, cpu - earlier.cpu};
    }
};
Disturbance disturbance();

// Counters of the whole host since it was booted, s of processor time.
struct HostTimes {
    double busy = 0;
    double steal = 0;
    double tick = 0;  // the counters' step
};
HostTimes host_times();

// Clock frequency of the processor that this process runs on, Hz, where the kernel tells it.
std::optional<double> frequency();

}  // namespace leadline
