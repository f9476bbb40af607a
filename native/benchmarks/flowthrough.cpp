// Does traffic that passes through the node of a pair slow that pair down?
//
// The two middle ranks stream while up to (ranks - 2) / 2 pairs around them, nested like brackets, stream
// across (Balaji et al., Blue Gene/P, 3.3).
#include <algorithm>

#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {

BENCHMARK(flowthrough, at_least(4),
          counts("traffic", "pairs that stream across",
                 [](const Scale& scale) { return counting(0, std::min(3, (scale.ranks - 2) / 2)); }),
          sizes("bytes", {65536, 1_MiB}, "message size"), counts("window", {16}, "concurrent sends"),
          metric("bandwidth", Unit::bytes_per_second, higher, mean,
                 "bytes a second sent by the middle pair")) {
    const int middle = run.world().size() / 2 - 1;
    if (run["traffic"] > middle)
        Run::skip(std::to_string(run["traffic"]) + " pairs around the middle one need " +
                  std::to_string(2 * run["traffic"] + 2) + " ranks");
    std::vector<Pair> others;
    for (int i = 1; i <= run["traffic"]; ++i) others.push_back({middle - i, middle + 1 + i});
    co_await stream_under_traffic(run, {middle, middle + 1}, others, run["bytes"], run["window"]);
}

}  // namespace leadline
