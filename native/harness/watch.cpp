#include "harness/watch.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace leadline {
namespace {

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

Disturbance disturbance() {
    Disturbance now;
    // Fields: time on a processor, time waiting on a run queue (both ns), time slices.
    double on_processor = 0;
    double waiting = 0;
    if (std::ifstream("/proc/self/schedstat") >> on_processor >> waiting) now.run_delay = waiting * 1e-9;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    now.switches = static_cast<double>(usage.ru_nivcsw);
    now.cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    return now;
}

HostTimes host_times() {
    // proc(5): user, nice, system, idle, iowait, irq, softirq, steal, in clock ticks.
    std::ifstream file("/proc/stat");
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    file >> name >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
    return {(user + nice + system + irq + softirq) * tick, steal * tick, tick};
}

std::optional<double> frequency() {
    const std::string file =
        "/sys/devices/system/cpu/cpu" + std::to_string(sched_getcpu()) + "/cpufreq/scaling_cur_freq";
    double kilohertz = 0;
    if (std::ifstream(file) >> kilohertz) return kilohertz * 1e3;
    return std::nullopt;
}

}  // namespace leadline
