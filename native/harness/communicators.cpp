#include "harness/communicators.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string_view>

namespace leadline {
namespace {

// What follows `prefix` in `name`, where that begins with it.
std::optional<std::string_view> after(std::string_view name, std::string_view prefix) {
    if (!name.starts_with(prefix)) return std::nullopt;
    return name.substr(prefix.size());
}

[[noreturn]] void unknown_name(const std::string& name) {
    Run::skip("there is no communicator '" + name +
              "'; there are world, dup, world-1, cores-K, line-N, plane-AxB, box-AxBxC, scattered-N, and "
              "line-full, plane-full, box-full");
}

// "8x4" as its numbers.
std::vector<int> numbers(const std::string& name, std::string_view text) {
    std::vector<int> all;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        int value = 0;
        const auto [stopped, error] = std::from_chars(at, end, value);
        if (error != std::errc() || value < 1) unknown_name(name);
        all.push_back(value);
        if (stopped == end) return all;
        if (*stopped != 'x') unknown_name(name);
        at = stopped + 1;
    }
}

int number(const std::string& name, std::string_view text) {
    const auto all = numbers(name, text);
    if (all.size() != 1) unknown_name(name);
    return all.front();
}

std::string times(const std::vector<int>& lengths) {
    std::string text;
    for (const int length : lengths) {
        if (!text.empty()) text += 'x';
        text += std::to_string(length);
    }
    return text;
}

void need_grid(const std::string& name, const Whereabouts& where) {
    if (where.axes.empty())
        Run::skip("the communicator '" + name +
                  "' is a part of a grid of nodes, and this machine tells of none");
}

Membership by_core(const std::string& name, int most, const Whereabouts& where) {
    Membership made{.communicators = most};
    made.which.resize(static_cast<std::size_t>(where.ranks));
    std::vector<int> sizes;
    for (int rank = 0; rank < where.ranks; ++rank) {
        const int core = where.placement(rank).core;
        sizes.resize(std::max(sizes.size(), static_cast<std::size_t>(core) + 1));
        ++sizes[static_cast<std::size_t>(core)];
        made.which[static_cast<std::size_t>(rank)] = core < most ? core : Membership::nobody;
    }
    if (static_cast<std::size_t>(most) > sizes.size())
        Run::skip("'" + name + "' needs " + std::to_string(most) + " ranks on a node, there are " +
                  std::to_string(sizes.size()));
    made.size = *std::min_element(sizes.begin(), sizes.begin() + most);
    return made;
}

// The ranks of the nodes that lie less than `lengths` steps up from rank 0's node; the axes wrap around.
Membership box(const std::string& name, std::vector<int> lengths, const Whereabouts& where) {
    lengths.resize(where.axes.size(), 1);
    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
        if (lengths[axis] > where.axes[axis])
            Run::skip("'" + name + "' does not fit a machine of " + times(where.axes) + " nodes");
    const std::vector<int> corner = where.coordinates(0);
    Membership made;
    made.which.assign(static_cast<std::size_t>(where.ranks), Membership::nobody);
    std::int64_t nodes = 0;
    for (int rank = 0; rank < where.ranks; ++rank) {
        const std::vector<int> at = where.coordinates(rank);
        bool inside = true;
        for (std::size_t axis = 0; axis < lengths.size(); ++axis)
            inside =
                inside && (at[axis] - corner[axis] + where.axes[axis]) % where.axes[axis] < lengths[axis];
        if (!inside) continue;
        made.which[static_cast<std::size_t>(rank)] = 0;
        ++made.size;
        if (where.placement(rank).core == 0) ++nodes;
    }
    const auto all = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{1}, std::multiplies<>());
    if (nodes != all)
        Run::skip("'" + name + "' has " + std::to_string(all) + " nodes, and ranks sit on only " +
                  std::to_string(nodes) + " of them");
    return made;
}

// Whether the smallest box around these nodes holds no others.
bool fills_box(const std::vector<std::vector<int>>& nodes) {
    std::int64_t volume = 1;
    for (std::size_t axis = 0; axis < nodes.front().size(); ++axis) {
        std::set<int> places;
        for (const auto& node : nodes) places.insert(node[axis]);
        volume *= *places.rbegin() - *places.begin() + 1;
    }
    return volume == std::ssize(nodes);
}

Membership scattered(const std::string& name, int count, const Whereabouts& where) {
    std::vector<int> heads;  // the first rank of each node
    for (int rank = 0; rank < where.ranks; ++rank)
        if (where.placement(rank).core == 0) heads.push_back(rank);
    if (count > std::ssize(heads))
        Run::skip("'" + name + "' needs " + std::to_string(count) + " nodes, ranks sit on " +
                  std::to_string(heads.size()));
    constexpr int tries = 16;
    for (unsigned seed = 1; seed <= tries; ++seed) {
        // Drawn by hand: what std::shuffle does differs between libraries.
        std::mt19937 random(seed);
        std::vector<int> drawn = heads;
        std::vector<std::vector<int>> nodes;
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            std::swap(drawn[i], drawn[i + random() % (drawn.size() - i)]);
            nodes.push_back(where.coordinates(drawn[i]));
        }
        if (fills_box(nodes)) continue;
        Membership made{.size = count};
        made.which.assign(static_cast<std::size_t>(where.ranks), Membership::nobody);
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
            made.which[static_cast<std::size_t>(drawn[i])] = 0;
        return made;
    }
    Run::skip("any " + std::to_string(count) + " nodes of this machine of " + times(where.axes) +
              " nodes fill a box");
}

Membership find_membership(const std::string& name, const Whereabouts& where) {
    if (name == "world") return {.size = where.ranks};
    if (name == "dup") return {.size = where.ranks, .copy = true};
    if (name == "world-1") return {.size = where.ranks - 1};
    if (const auto most = after(name, "cores-")) return by_core(name, number(name, *most), where);
    if (const auto count = after(name, "scattered-")) {
        const int nodes = number(name, *count);
        need_grid(name, where);
        return scattered(name, nodes, where);
    }
    constexpr std::array<std::string_view, 3> shapes{"line-", "plane-", "box-"};
    for (std::size_t shape = 0; shape < shapes.size(); ++shape) {
        const auto lengths = after(name, shapes.at(shape));
        if (!lengths) continue;
        const bool full = *lengths == "full";
        std::vector<int> asked = full ? where.axes : numbers(name, *lengths);
        need_grid(name, where);
        // A line has one length, a plane two; a box as many as the grid, or three.
        const bool whole = shape + 1 == shapes.size();
        const std::size_t axes = whole ? std::max(where.axes.size(), shapes.size()) : shape + 1;
        if (full) asked.resize(std::min(asked.size(), axes));
        else if (whole ? asked.size() < 3 || asked.size() > axes : asked.size() != axes) unknown_name(name);
        if (asked.size() > where.axes.size() || (full && !whole && asked.size() < axes))
            Run::skip("'" + name + "' needs more axes than the " + std::to_string(where.axes.size()) +
                      " of this machine");
        return box(name, std::move(asked), where);
    }
    unknown_name(name);
}

}  // namespace

Whereabouts whereabouts(const Comm& world) {
    return {.ranks = world.size(),
            .axes = world.axes(),
            .placement = [&world](int rank) { return world.placement(rank); },
            .coordinates = [&world](int rank) { return world.coordinates(rank); }};
}

Membership membership(const std::string& name, const Whereabouts& where) {
    Membership made = find_membership(name, where);
    if (made.size < 2) Run::skip("'" + name + "' is one rank alone here, with nobody to speak to");
    return made;
}

Sweep communicators() {
    return words(
        "communicator",
        "which ranks take part: world, dup, world-1, cores-K (K communicators at once, by the core), "
        "line-N, plane-AxB, box-AxBxC or -full (of the grid of nodes), scattered-N",
        [](const Scale& scale) {
            std::vector<std::string> all{"world", "dup"};
            if (scale.ranks > 2) all.emplace_back("world-1");
            if (scale.per_node < scale.ranks)
                for (const auto most : powers(1, scale.per_node))
                    all.push_back("cores-" + std::to_string(most));
            return all;
        },
        R"(world|dup|world-1|(cores|scattered)-[1-9]\d*|(line|plane|box)-full|line-[1-9]\d*)"
        R"(|plane-[1-9]\d*x[1-9]\d*|box-[1-9]\d*x[1-9]\d*(x[1-9]\d*)+)");
}

const Membership& members(Run& run) {
    return run.once([&] { return membership(run.word("communicator"), whereabouts(run.world())); });
}

Task<Comm> communicator(Run& run, const Membership& members) {
    if (members.copy) co_return co_await run.world().dup();
    if (members.which.empty() && members.size == run.ranks()) co_return run.world();
    const int mine = members.of(run.rank());
    co_return co_await run.world().split(mine == Membership::nobody ? members.communicators : mine,
                                         run.rank());
}

}  // namespace leadline
