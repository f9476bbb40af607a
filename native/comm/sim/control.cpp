#include "comm/sim/control.hpp"

#include <algorithm>
#include <cstddef>

namespace leadline {

void Control::Agreement::await_suspend(std::coroutine_handle<> handle) {
    sim::World& world = *control.world_;
    const auto rank = static_cast<std::size_t>(control.rank_);
    const std::size_t width = mine.size();
    if (world.values.size() != width * static_cast<std::size_t>(control.ranks_))
        world.values.resize(width * static_cast<std::size_t>(control.ranks_));
    std::ranges::copy(mine, world.values.begin() + static_cast<std::ptrdiff_t>(rank * width));
    if (rank == 0) world.decide = &decide;
    sim::Group& all = world.groups.front();
    all.calls.enter(all, control.rank_, {.what = "the next sample"});
    world.come(all, control.rank_, handle, "for the others, with its part done", [&] {
        // Where not all ranks are played, each has the values of the one that is played for it.
        const auto played = static_cast<std::size_t>(world.engine.players()) * width;
        for (std::size_t at = played; at < world.values.size(); ++at)
            world.values[at] = world.values[at - played];
        world.verdict = (*world.decide)(world.values);
        world.align(all);
        world.aligned = all.clocks.front();
    });
}

void Control::Alignment::await_suspend(std::coroutine_handle<> handle) {
    sim::World& world = *control.world_;
    sim::Group& all = world.groups.front();
    all.calls.enter(all, control.rank_, {.what = "an aligned start"});
    world.come(all, control.rank_, handle, "to begin with the others", [&] {
        world.align(all);
        world.aligned = all.clocks.front();
    });
}

Ready<> Control::work(std::int64_t steps) {
    // A step is one dependent addition: one a flop of the core, and a nanosecond where nothing is told of it.
    const double flops = world_->engine.machine().node.flops;
    const double each = flops < machine::infinite ? 1 / flops : 1e-9;
    return pass(
        machine::from_seconds(each * static_cast<double>(steps) / world_->engine.share_of_core(rank_)));
}

Ready<> Control::charge(Work work) {
    const machine::Node& node = world_->engine.machine().node;
    // A core's share of its node's memory is what all its ranks leave it.
    const double flops = node.flops * world_->engine.share_of_core(rank_);
    if (auto* const coldness = world_->engine.coldness()) coldness->walk(rank_, work.bytes);
    const double seconds = std::max(work.flops / flops, work.bytes * node.ranks / node.memory);
    return pass(machine::from_seconds(seconds));
}

}  // namespace leadline
