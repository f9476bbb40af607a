// Does it matter which two cores of a node communicate?
//
// A ping-pong between every two ranks of rank 0's node in turn while the others stand by (Balaji et al., Blue
// Gene/P, 3.2). A pair names two of the ranks there, counted from 0.
#include <charconv>

#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {
namespace {

// All pairs of up to 16; of more, whose pairs are thousands, those with the first.
std::vector<std::string> pairs_of(const Scale& scale) {
    std::vector<std::string> pairs;
    const int firsts = scale.per_node <= 16 ? scale.per_node : 1;
    for (int a = 0; a < firsts; ++a)
        for (int b = a + 1; b < scale.per_node; ++b)
            pairs.push_back(std::to_string(a) + "-" + std::to_string(b));
    return pairs;
}

// The ranks that share a node with rank 0, all where the places of ranks are not known.
std::vector<int> ranks_here(const Comm& world) {
    std::vector<int> here;
    for (int rank = 0; rank < world.size(); ++rank)
        if (rank == 0 || world.distance(0, rank) < other_node) here.push_back(rank);
    return here;
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
    if (ranks < 2) Run::skip("a pair needs two ranks on the node of rank 0, which has 1");
    Run::skip("'" + text + "' is not a pair of two of the " + std::to_string(ranks) +
              " ranks of the node, such as 0-1");
}

}  // namespace

BENCHMARK(corepairs, at_least(2), words("pair", "the two ranks, as 0-1", pairs_of),
          sizes("bytes", {8, 65536}, "message size"),
          metric("latency", Unit::second, lower, mean, "half of one round trip"),
          metric("bandwidth", Unit::bytes_per_second, higher, mean,
                 "message size divided by the one-way time")) {
    const auto& here = run.once([&] { return ranks_here(run.world()); });
    const Pair places = parse_pair(run.word("pair"), static_cast<int>(here.size()));
    const Pair pair{here[static_cast<std::size_t>(places.from)], here[static_cast<std::size_t>(places.to)]};
    const Bytes data = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        co_await pingpong_sample(run, pair, data);
        if (run.world().rank() != pair.from) continue;
        run.sample("latency", run.each() / 2);
        run.sample("bandwidth", static_cast<double>(data.size()) / (run.each() / 2));
    }
}

}  // namespace leadline
