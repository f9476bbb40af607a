#include "comm/sim/world.hpp"

#include <algorithm>
#include <numeric>

namespace leadline::sim {

World::World(const machine::Machine& machine, const machine::Topology& topology,
             std::vector<machine::Placement> placements, machine::Conditions conditions)
    : engine(machine, topology, std::move(placements), std::move(conditions)) {
    new_group({.whole = true, .ranks = engine.ranks()});
}

Group& World::new_group(Group&& made) {
    made.context = static_cast<std::int32_t>(groups.size());
    made.players = engine.conditions().symmetry ? engine.players() : made.ranks;
    return groups.emplace_back(std::move(made));
}

bool World::all_here(Group& group, int rank) const {
    if (group.clocks.empty()) group.clocks.resize(static_cast<std::size_t>(group.players));
    group.clocks[static_cast<std::size_t>(rank)] = engine.clock(group.world_rank(rank));
    if (++group.come < group.players) return false;
    group.come = 0;
    return true;
}

void World::progress(Group& group) {
    for (int each = 0; each < group.players; ++each)
        engine.wake(group.world_rank(each), group.clocks[static_cast<std::size_t>(each)]);
}

void World::align(Group& group) const { std::ranges::fill(group.clocks, std::ranges::max(group.clocks)); }

void World::split(Group& group) {
    const auto ranks = static_cast<std::size_t>(group.ranks);
    std::vector<int> order(ranks);
    std::iota(order.begin(), order.end(), 0);
    // By colour, then key, then rank: the order of MPI_Comm_split.
    std::ranges::stable_sort(order, {}, [&](int rank) {
        return group.given[static_cast<std::size_t>(rank)] ^ (std::int64_t{1} << 31);
    });
    group.parts.assign(ranks, {});
    const std::int32_t split = splits_++;
    const auto colour = [&](int rank) { return group.given[static_cast<std::size_t>(rank)] >> 32; };
    for (std::size_t from = 0, to = 0; from < ranks; from = to) {
        while (to < ranks && colour(order[to]) == colour(order[from])) ++to;
        Group made{.ranks = static_cast<int>(to - from)};
        for (std::size_t i = from; i < to; ++i) made.members.push_back(group.world_rank(order[i]));
        made.split = split;
        Group& part = new_group(std::move(made));
        for (std::size_t i = from; i < to; ++i)
            group.parts[static_cast<std::size_t>(order[i])] = {&part, static_cast<int>(i - from)};
    }
}

const std::vector<NodePlace>& World::placements(Group& group) const {
    if (!group.placements.empty()) return group.placements;
    std::vector<NodePlace> named(static_cast<std::size_t>(engine.topology().nodes()), NodePlace{-1, 0});
    int nodes = 0;
    group.placements.reserve(static_cast<std::size_t>(group.ranks));
    for (int rank = 0; rank < group.ranks; ++rank) {
        NodePlace& next = named[static_cast<std::size_t>(engine.placement(group.world_rank(rank)).node)];
        if (next.node < 0) next.node = nodes++;
        group.placements.push_back(next);
        ++next.core;
    }
    return group.placements;
}

}  // namespace leadline::sim
