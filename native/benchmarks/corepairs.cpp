// Does it matter which two cores of a node talk to each other?
//
// A ping-pong between every two ranks in turn while the others stand by (Balaji et al., Blue Gene/P, 3.2).
#include <charconv>

#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {
namespace {

std::vector<std::string> every_pair(int ranks) {
    std::vector<std::string> pairs;
    for (int a = 0; a < ranks; ++a)
        for (int b = a + 1; b < ranks; ++b) pairs.push_back(std::to_string(a) + "-" + std::to_string(b));
    return pairs;
}

// "0-3" as a pair of ranks below `ranks`; anything else is a point that cannot be asked.
Pair parse_pair(const std::string& text, int ranks) {
    Pair pair{-1, -1};
    const char* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, pair.from);
    if (first.ec == std::errc() && first.ptr != end && *first.ptr == '-') {
        const auto second = std::from_chars(first.ptr + 1, end, pair.to);
        const bool distinct = pair.from >= 0 && pair.to >= 0 && pair.from != pair.to;
        if (second.ec == std::errc() && second.ptr == end && distinct && std::max(pair.from, pair.to) < ranks)
            return pair;
    }
    Run::skip("'" + text + "' is not a pair of two of the " + std::to_string(ranks) + " ranks, such as 0-1");
}

}  // namespace

BENCHMARK(corepairs, at_least(2), words("pair", "the two ranks, as 0-1", every_pair),
          sizes("bytes", {8, 65536}, "message size"),
          metric("latency", Unit::second, lower, mean, "half of one round trip"),
          metric("bandwidth", Unit::bytes_per_second, higher, mean, "message size over its one-way time")) {
    const Pair pair = parse_pair(run.word("pair"), run.world().size());
    const Bytes data = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        co_await pingpong_sample(run, pair, data);
        if (run.world().rank() != pair.from) continue;
        run.sample("latency", run.each() / 2);
        run.sample("bandwidth", static_cast<double>(data.size()) / (run.each() / 2));
    }
}

}  // namespace leadline
