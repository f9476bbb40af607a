// How long does a given matrix of messages take when all start at once?
//
// The table is what a program was seen to send: a file of lines "from,to,bytes" after one that says so.
// Messages of a pair become one.
#include <charconv>
#include <cstdint>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

constexpr const char* ring = "ring";
constexpr std::int64_t ring_bytes = 1024;

struct Peer {
    int rank;
    std::int64_t bytes;
};

// What each rank sends and gets, by rank.
struct Table {
    std::vector<std::vector<Peer>> to, from;
    std::int64_t largest = 0;  // of all messages, B
};

// The numbers of a line, which are three; false where it is no such line.
bool read_line(std::string_view line, std::array<std::int64_t, 3>& numbers) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), numbers.at(i));
        if (error != std::errc{} || numbers.at(i) < 0) return false;
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
        if (i + 1 == numbers.size()) break;
        if (!line.starts_with(',')) return false;
        line.remove_prefix(1);
    }
    return line.empty();
}

// Bytes by sender and receiver.
using Messages = std::map<std::pair<int, int>, std::int64_t>;

Messages read_messages(const std::string& path, int ranks) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) Run::skip("cannot read the table " + path);
    if (line.ends_with('\r')) line.pop_back();
    if (line != "from,to,bytes") Run::skip(path + " does not begin with the line from,to,bytes");
    Messages messages;
    for (int number = 2; std::getline(file, line); ++number) {
        std::array<std::int64_t, 3> numbers{};
        const std::string where = path + ", line " + std::to_string(number) + ": ";
        if (!read_line(line, numbers))
            Run::skip(std::string(where)
                          .append("a message is three whole numbers from,to,bytes, but got ")
                          .append(line));
        const auto [from, to, bytes] = numbers;
        if (from >= ranks || to >= ranks)
            Run::skip(where + "there are ranks 0 to " + std::to_string(ranks - 1) + ", but got " +
                      std::to_string(from) + " and " + std::to_string(to));
        if (from != to) messages[{static_cast<int>(from), static_cast<int>(to)}] += bytes;
    }
    return messages;
}

Table table_of(const std::string& name, int ranks) {
    Messages messages;
    if (name == ring)
        for (int rank = 0; rank < ranks; ++rank) messages[{rank, (rank + 1) % ranks}] = ring_bytes;
    else messages = read_messages(name, ranks);
    Table table;
    table.to.resize(static_cast<std::size_t>(ranks));
    table.from.resize(static_cast<std::size_t>(ranks));
    for (const auto& [pair, bytes] : messages) {
        table.to[static_cast<std::size_t>(pair.first)].push_back({pair.second, bytes});
        table.from[static_cast<std::size_t>(pair.second)].push_back({pair.first, bytes});
        table.largest = std::max(table.largest, bytes);
    }
    return table;
}

}  // namespace

BENCHMARK(traffic, at_least(2),
          words("table", "ring: 1 KiB from each rank to the next; or a file of messages, from,to,bytes",
                [](const Scale&) { return std::vector<std::string>{ring}; }),
          metric("time", Unit::second, lower, largest,
                 "time until the slowest rank has sent and received all its messages")) {
    Comm& world = run.world();
    const Table& table = run.once([&] { return table_of(run.word("table"), run.ranks()); });
    const auto me = static_cast<std::size_t>(run.rank());
    const Bytes out = run.buffers(table.largest)[0], in = run.buffers(table.largest)[0];
    const auto part = [](Bytes all, std::int64_t bytes) {
        return all.first(static_cast<std::size_t>(bytes));
    };
    std::vector<Comm::Request> requests(table.from[me].size() + table.to[me].size());
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            auto next = requests.begin();
            for (const Peer& peer : table.from[me]) *next++ = world.irecv(part(in, peer.bytes), peer.rank, 0);
            for (const Peer& peer : table.to[me]) *next++ = world.isend(part(out, peer.bytes), peer.rank, 0);
            co_await world.wait_all(requests);
        }
        run.stop();
        run.sample("time", run.each());
    }
}

}  // namespace leadline
