#include "machine/mapping.hpp"

#include <charconv>
#include <fstream>
#include <limits>
#include <random>
#include <stdexcept>
#include <string_view>

namespace leadline::machine {
namespace {

[[noreturn]] void refuse(const std::string& problem) { throw std::invalid_argument("mapping: " + problem); }

// Letters of so many axes, and T for the core.
std::string letters_of(std::size_t axes) {
    constexpr std::string_view names = "XYZABCDEFGHIJKLMNOPQRS";
    if (axes > names.size()) refuse("there are letters for 22 axes, but got " + std::to_string(axes));
    return std::string(names.substr(0, axes)) + "T";
}

void check_order(const std::string& order, const std::string& letters) {
    const auto wrong = [&](const std::string& problem, char letter) {
        refuse('"' + order + "\" " + problem + ' ' + letter + ": an order here is of the letters " + letters);
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (letters.find(order[i]) == std::string::npos) wrong("has an unknown letter", order[i]);
        if (order.find(order[i]) != i) wrong("has twice the letter", order[i]);
    }
    for (const char letter : letters)
        if (order.find(letter) == std::string::npos) wrong("lacks the letter", letter);
}

std::vector<Placement> in_order(const std::string& order, const Topology& topology, int per_node, int ranks) {
    std::vector<int> lengths = topology.axes();
    const std::string letters = letters_of(lengths.size());
    check_order(order, letters);
    lengths.push_back(per_node);
    std::vector<std::size_t> axes;  // the axis of each letter of the order; the last is T
    for (const char letter : order) axes.push_back(letters.find(letter));
    std::vector<int> at(lengths.size(), 0);  // of each axis, then the core
    std::vector<Placement> placements;
    placements.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
        placements.push_back({topology.node_at(at), at.back()});
        for (const std::size_t axis : axes) {
            if (++at[axis] < lengths[axis]) break;
            at[axis] = 0;
        }
    }
    return placements;
}

template <class T>
bool read_number(std::string_view& text, T& to) {
    const auto start = text.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) return false;
    const auto [end, error] = std::from_chars(text.data() + start, text.data() + text.size(), to);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc{};
}

// Of 0 .. bound - 1, each as likely: the generator's last, incomplete round of `bound` is thrown away.
// Libraries differ in their own distributions, and a seed must mean the same everywhere.
std::uint64_t draw(std::mt19937_64& random, std::uint64_t bound) {
    const std::uint64_t uneven = (std::numeric_limits<std::uint64_t>::max() % bound + 1) % bound;
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max() - uneven;
    for (;;) {
        const std::uint64_t value = random();
        if (value <= last) return value % bound;
    }
}

// Fisher and Yates, from the front: the first ranks sit where they do whatever the number of ranks.
std::vector<Placement> at_random(std::string_view seed, const Topology& topology, int per_node, int ranks) {
    std::uint64_t start = 0;
    const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), start);
    if (error != std::errc{} || end != seed.data() + seed.size())
        refuse("random:SEED has a whole number for its seed, but got \"" + std::string(seed) + "\"");
    std::mt19937_64 random(start);
    std::vector<Placement> placements;
    placements.reserve(static_cast<std::size_t>(topology.nodes()) * static_cast<std::size_t>(per_node));
    for (int node = 0; node < topology.nodes(); ++node)
        for (int core = 0; core < per_node; ++core) placements.push_back({node, core});
    for (std::size_t i = 0; i < static_cast<std::size_t>(ranks); ++i)
        std::swap(placements[i], placements[i + draw(random, placements.size() - i)]);
    placements.resize(static_cast<std::size_t>(ranks));
    return placements;
}

// Lengths such as "4x4x2".
std::vector<int> lengths_of(std::string_view text) {
    std::vector<int> lengths;
    for (std::string_view rest = text;; rest.remove_prefix(1)) {
        int length = 0;
        if (!read_number(rest, length) || length < 1) return {};
        lengths.push_back(length);
        if (rest.empty()) return lengths;
        if (rest.front() != 'x') return {};
    }
}

// The digits of a rank's number, first to last: its core, its node's place in the tile, the tile's place.
std::vector<Placement> in_tiles(std::string_view text, const Topology& topology, int per_node, int ranks) {
    const std::vector<int> lengths = topology.axes();
    const std::vector<int> tile = lengths_of(text);
    bool fits = tile.size() == lengths.size();
    for (std::size_t axis = 0; fits && axis < tile.size(); ++axis) fits = lengths[axis] % tile[axis] == 0;
    if (!fits) {
        std::string axes;
        for (const int length : lengths) axes += (axes.empty() ? "" : "x") + std::to_string(length);
        refuse("tiled:LENGTHS has a length for each axis, which divides the nodes along it, here " + axes +
               ", but got \"" + std::string(text) + "\"");
    }
    std::vector<Placement> placements;
    placements.reserve(static_cast<std::size_t>(ranks));
    std::vector<int> at(tile.size());
    for (int rank = 0; rank < ranks; ++rank) {
        int rest = rank / per_node;
        for (std::size_t axis = 0; axis < tile.size(); ++axis) {
            at[axis] = rest % tile[axis];
            rest /= tile[axis];
        }
        for (std::size_t axis = 0; axis < tile.size(); ++axis) {
            const int tiles = lengths[axis] / tile[axis];
            at[axis] += rest % tiles * tile[axis];
            rest /= tiles;
        }
        placements.push_back({topology.node_at(at), rank % per_node});
    }
    return placements;
}

// A file of placements, line by line, so that whatever is wrong is told with its line.
class SeatFile {
public:
    SeatFile(const std::string& path, const Topology& topology, int per_node)
        : path_(path),
          file_(path),
          topology_(topology),
          lengths_(topology.axes()),
          letters_(letters_of(lengths_.size())),
          cores_(per_node),
          taken_(static_cast<std::size_t>(topology.nodes()) * static_cast<std::size_t>(per_node), 0) {
        if (!file_) refuse("cannot read " + path);
        lengths_.push_back(per_node);
    }

    std::vector<Placement> read(int ranks) {
        std::vector<Placement> placements;
        placements.reserve(static_cast<std::size_t>(ranks));
        std::string text;
        for (line_ = 1; line_ <= ranks; ++line_) {
            if (!std::getline(file_, text))
                refuse(path_ + " ends after " + std::to_string(line_ - 1) + " lines, but there are " +
                       std::to_string(ranks) + " ranks");
            placements.push_back(parse(text));
        }
        return placements;
    }

private:
    [[noreturn]] void wrong(const std::string& problem) const {
        refuse(path_ + ", line " + std::to_string(line_) + ": " + problem);
    }

    Placement parse(const std::string& text) {
        std::string_view rest = text;
        at_.assign(lengths_.size(), 0);
        bool right = true;
        for (int& number : at_) right = right && read_number(rest, number);
        if (!right || rest.find_first_not_of(" \t\r") != std::string_view::npos)
            wrong("a placement is " + std::to_string(at_.size()) + " whole numbers (" + letters_ +
                  "), but got \"" + text + "\"");
        for (std::size_t i = 0; i < at_.size(); ++i)
            if (at_[i] < 0 || at_[i] >= lengths_[i])
                wrong(std::string(1, letters_[i]) + " is of 0 to " + std::to_string(lengths_[i] - 1) +
                      ", but got " + std::to_string(at_[i]));
        const Placement placement{topology_.node_at(at_), at_.back()};
        int& taken = taken_[static_cast<std::size_t>(placement.node) * static_cast<std::size_t>(cores_) +
                            static_cast<std::size_t>(placement.core)];
        if (taken != 0) wrong("this placement is taken by line " + std::to_string(taken) + " already");
        taken = line_;
        return placement;
    }

    std::string path_;
    std::ifstream file_;
    const Topology& topology_;
    std::vector<int> lengths_;
    std::string letters_;
    int cores_;
    std::vector<int> taken_;  // by which line; 0: free
    std::vector<int> at_;
    int line_ = 0;
};

}  // namespace

std::vector<Placement> make_mapping(const std::string& how, const Topology& topology, int per_node,
                                    int ranks) {
    constexpr std::string_view random = "random:", tiled = "tiled:", file = "file:";
    if (per_node < 1) refuse("a node has 1 rank or more, but got " + std::to_string(per_node));
    if (ranks < 1) refuse("there is 1 rank or more, but got " + std::to_string(ranks));
    if (ranks > static_cast<std::int64_t>(topology.nodes()) * per_node)
        refuse(std::to_string(ranks) + " ranks do not fit on " + std::to_string(topology.nodes()) +
               " nodes with " + std::to_string(per_node) + " each");
    if (how.starts_with(random))
        return at_random(std::string_view(how).substr(random.size()), topology, per_node, ranks);
    if (how.starts_with(tiled))
        return in_tiles(std::string_view(how).substr(tiled.size()), topology, per_node, ranks);
    if (how == "blocked") {
        const std::string letters = letters_of(topology.axes().size());
        return in_order("T" + letters.substr(0, letters.size() - 1), topology, per_node, ranks);
    }
    if (how.starts_with(file)) return SeatFile(how.substr(file.size()), topology, per_node).read(ranks);
    return in_order(how, topology, per_node, ranks);
}

}  // namespace leadline::machine
