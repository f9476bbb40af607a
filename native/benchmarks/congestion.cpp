// How do two pairs of ranks share a link?
//
// Four ranks in a line: nested pairs are 0 to 3 and 1 to 2, overlapping pairs 0 to 2 and 1 to 3. One pair is
// measured while the other is idle, and while it streams (Balaji et al., Blue Gene/P, 3.4).
#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {

BENCHMARK(congestion, ranks(4), choice("pattern", {"nested", "overlapping"}, "0-3 with 1-2, or 0-2 with 1-3"),
          choice("measured", {"first", "second"}, "the pair that starts at rank 0, or the one at rank 1"),
          choice("other", {"idle", "busy"}, "what the other pair does meanwhile"),
          sizes("bytes", {65536, 1_MiB}, "message size"), counts("window", {16}, "concurrent sends"),
          metric("bandwidth", Unit::bytes_per_second, higher, mean,
                 "bytes a second sent by the measured pair")) {
    const bool nested = run.word("pattern") == "nested";
    Pair measured{0, nested ? 3 : 2};
    Pair other{1, nested ? 2 : 3};
    if (run.word("measured") == "second") std::swap(measured, other);
    std::vector<Pair> others;
    if (run.word("other") == "busy") others.push_back(other);
    co_await stream_under_traffic(run, measured, others, run["bytes"], run["window"]);
}

}  // namespace leadline
