// How much time does the system take from a program that only computes?
//
// A fixed amount of work again and again on every rank: what a round takes beyond the quickest is the
// machine's own doing (the fixed-work-quantum method). It says how far to trust everything else.
#include <algorithm>

#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(noise, at_least(1), counts("steps", {50'000}, "dependent additions in one quantum of work"),
          metric("lost", Unit::one, lower, mean,
                 "share of the time not used by the program, mean over ranks"),
          metric("longest", Unit::second, lower, largest, "longest single delay of a quantum on any rank"),
          Sampling{.one_operation = true, .whole_time = true}) {
    constexpr int quanta = 64;
    constexpr double rounding = 1e-12;  // s; differences of clock readings below this are the arithmetic's
    double quickest = 1e9;              // of this rank so far, s
    while (co_await run.next_sample()) {
        double slowest = 0;
        run.start();
        double last = run.now();
        for (int i = 0; i < quanta; ++i) {
            co_await run.work(run["steps"]);
            const double now = run.now();
            quickest = std::min(quickest, now - last);
            slowest = std::max(slowest, now - last);
            last = now;
        }
        run.stop();
        const double lost = run.elapsed() - quanta * quickest;
        run.sample("lost", lost < quanta * rounding ? 0 : lost / run.elapsed());
        run.sample("longest", slowest - quickest < rounding ? 0 : slowest - quickest);
    }
}

}  // namespace leadline
