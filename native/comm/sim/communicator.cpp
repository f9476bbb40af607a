#include "comm/sim/communicator.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace leadline {

void Comm::no_rank(int peer) const {
    throw std::out_of_range("rank " + std::to_string(me_.mine) + " names rank " + std::to_string(peer) +
                            " of a communicator of " + std::to_string(size()));
}

int Comm::distance(int a, int b) const {
    const sim::Engine& here = engine();
    const int from = me_.group->world_rank(a);
    const int to = me_.group->world_rank(b);
    if (here.local(from, to)) return here.socket(from) == here.socket(to) ? same_group : same_node;
    return same_node + here.topology().hops(here.placement(from).node, here.placement(to).node);
}

NodePlace Comm::placement(int rank) const {
    return me_.world->placements(*me_.group)[static_cast<std::size_t>(rank)];
}

std::vector<int> Comm::axes() const {
    const machine::Topology& topology = engine().topology();
    return topology.grid() ? topology.axes() : std::vector<int>{};
}

std::vector<int> Comm::coordinates(int rank) const {
    const machine::Topology& topology = engine().topology();
    if (!topology.grid()) return {};
    return topology.coordinates(engine().placement(me_.group->world_rank(rank)).node);
}

void Comm::Parting::await_suspend(std::coroutine_handle<> handle) const {
    sim::Group& group = *comm.me_.group;
    sim::World& world = *comm.me_.world;
    const auto* what = !copies ? "split" : dimensions.empty() ? "dup" : "cart";
    group.calls.enter(group, comm.me_.rank, {.what = what, .periodic = periodic, .lengths = dimensions});
    if (world.engine.conditions().symmetry && !copies) throw machine::Asymmetric();
    if (!copies) {
        group.given.resize(static_cast<std::size_t>(group.ranks));
        group.given[static_cast<std::size_t>(comm.me_.rank)] = given;
    }
    world.come(group, comm.me_.rank, handle, "for a communicator to be made", [&] {
        world.align(group);
        if (!copies) {
            world.split(group);
            return;
        }
        sim::Group& copy =
            world.new_group({.members = group.members, .whole = group.whole, .ranks = group.ranks});
        copy.dimensions.assign(dimensions.begin(), dimensions.end());
        copy.periodic = periodic;
        group.parts.assign(1, {&copy, 0});
    });
}

Comm Comm::Parting::await_resume() const {
    // In a copy every rank is what it was.
    if (copies) return {*comm.me_.world, *comm.me_.group->parts.front().first, comm.me_.rank};
    const auto& [group, rank] = comm.me_.group->parts[static_cast<std::size_t>(comm.me_.rank)];
    return {*comm.me_.world, *group, rank};
}

Comm::Parting Comm::cart(std::span<const int> dimensions, bool periodic) {
    int cells = 1;
    for (const int length : dimensions) cells *= length;
    if (cells != size())
        throw Unsupported("a grid of " + std::to_string(cells) + " ranks is not a communicator of " +
                          std::to_string(size()));
    return {*this, 0, true, dimensions, periodic};
}

Comm::Opening Comm::window(std::size_t bytes, Exposure exposure) {
    if (exposure == Exposure::shared)
        throw Unsupported(
            "ranks of a described machine have no memory in common, so they cannot store to it; put can");
    if (exposure != Exposure::allocated)
        throw Unsupported("a described machine has one kind of window, whoever allocates it");
    return {*this, bytes};
}

void Comm::Opening::await_suspend(std::coroutine_handle<> handle) const {
    sim::World& world = *comm.me_.world;
    sim::Group& group = *comm.me_.group;
    if (world.engine.conditions().symmetry) throw machine::Asymmetric();
    group.calls.enter(group, comm.me_.rank, {.what = "window"});
    const auto ranks = static_cast<std::size_t>(group.ranks);
    group.exposed.resize(ranks);
    group.exposed[static_cast<std::size_t>(comm.me_.rank)] = bytes;
    world.come(group, comm.me_.rank, handle, "for a window to be made", [&, ranks] {
        world.align(group);
        group.opened = std::make_shared<sim::WindowState>(
            sim::WindowState{.group = &group, .bytes = std::exchange(group.exposed, {})});
        group.opened->open.resize(ranks);
        group.opened->notices.resize(ranks);
        group.opened->wanted.resize(ranks);
    });
}

Window Comm::Opening::await_resume() const {
    return {*comm.me_.world, comm.me_.group->opened, comm.me_.rank};
}

}  // namespace leadline
