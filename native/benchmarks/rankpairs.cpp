// Do any two ranks communicate as fast as any other two?
//
// A ping-pong between two ranks, or between several disjoint pairs at once, of which the slowest counts; the
// others stand by. With one rank a node these are the pairs of nodes. A rank with itself is what the node
// does without a network: the library's own work, and a copy.
#include <charconv>

#include "harness/benchmark.hpp"
#include "harness/patterns.hpp"

namespace leadline {
namespace {

constexpr int most_matrix = 64;  // ranks up to which all pairs are asked: 2080

// Each rank alone, then all pairs; of more ranks, whose pairs are too many, those 1, 2, 4, ... after the
// first.
std::vector<std::string> pairs_of(const Scale& scale) {
    std::vector<std::string> pairs;
    const auto add = [&](int a, int b) { pairs.push_back(std::to_string(a) + "-" + std::to_string(b)); };
    if (scale.ranks > most_matrix) {
        for (int b = 1; b < scale.ranks; b *= 2) add(0, b);
        return pairs;
    }
    for (int a = 0; a < scale.ranks; ++a) add(a, a);
    for (int a = 0; a < scale.ranks; ++a)
        for (int b = a + 1; b < scale.ranks; ++b) add(a, b);
    return pairs;
}

// "0-3+1-2" as pairs of ranks below `ranks`, none of which is in two; anything else is a point that cannot be
// asked.
std::vector<Pair> parse_pairs(const std::string& text, int ranks) {
    std::vector<Pair> pairs;
    std::vector<bool> used(static_cast<std::size_t>(ranks));
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&](int& value) {
        const auto read = std::from_chars(at, end, value);
        at = read.ptr;
        return read.ec == std::errc() && value >= 0 && value < ranks;
    };
    const auto taken = [&](int rank) {
        const bool before = used[static_cast<std::size_t>(rank)];
        used[static_cast<std::size_t>(rank)] = true;
        return before;
    };
    const auto comes = [&](char mark) { return at != end && *at++ == mark; };
    do {
        Pair pair{-1, -1};
        if (!number(pair.from) || !comes('-') || !number(pair.to) || taken(pair.from) ||
            (pair.from != pair.to && taken(pair.to)) || (at != end && *at != '+'))
            Run::skip("'" + text + "' is not disjoint pairs of the " + std::to_string(ranks) +
                      " ranks, such as 0-1+2-3");
        pairs.push_back(pair);
    } while (at++ != end);
    return pairs;
}

// One sample of a rank's messages to itself.
Task<> self_sample(Run& run, Bytes out, Bytes in) {
    Comm& world = run.world();
    run.start();
    for ([[maybe_unused]] auto i : run.batch()) {
        std::array<Comm::Request, 2> both{world.irecv(in, world.rank()), world.isend(out, world.rank())};
        co_await world.wait_all(both);
    }
    run.stop();
}

}  // namespace

BENCHMARK(rankpairs, at_least(2),
          words("pair", "two ranks, as 0-1, or disjoint pairs at once, as 0-1+2-3", pairs_of),
          sizes("bytes", {8, 1_MiB}, "message size"),
          metric("latency", Unit::second, lower, largest, "half of one round trip, of the slowest pair"),
          metric("bandwidth", Unit::bytes_per_second, higher, smallest,
                 "message size divided by the one-way time, of the slowest pair")) {
    const int rank = run.world().rank();
    const auto& pairs = run.once([&] { return parse_pairs(run.word("pair"), run.world().size()); });
    const auto mine =
        std::ranges::find_if(pairs, [&](const Pair& each) { return rank == each.from || rank == each.to; });
    const Pair pair = mine == pairs.end() ? Pair{-1, -1} : *mine;
    const bool alone = pair.from == pair.to;  // or standing by
    const Bytes out = run.buffers(run["bytes"])[0];
    const Bytes in = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        if (!alone) co_await pingpong_sample(run, pair, out);
        else if (mine != pairs.end()) co_await self_sample(run, out, in);
        if (rank != pair.from) continue;
        const double way = alone ? run.each() : run.each() / 2;
        run.sample("latency", way);
        if (!out.empty()) run.sample("bandwidth", static_cast<double>(out.size()) / way);
    }
}

}  // namespace leadline
