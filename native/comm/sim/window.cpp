#include "comm/sim/window.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace leadline {

Bytes Window::local() {
    constexpr std::size_t least = 64;
    auto& memory = shared_->memory;
    if (memory.empty()) memory.resize(std::max(least, std::ranges::max(shared_->bytes)));
    return memory;
}

void Window::check(const char* does, std::size_t bytes, int target, std::size_t offset) const {
    const std::size_t there = shared_->bytes[static_cast<std::size_t>(target)];
    if (offset <= there && bytes <= there - offset) return;
    throw std::runtime_error("rank " + std::to_string(mine()) + does + std::to_string(bytes) + " B at " +
                             std::to_string(offset) + " B of the window of rank " +
                             std::to_string(shared_->group->world_rank(target)) + ", which has " +
                             std::to_string(there) + " B there");
}

Ready<> Window::put(Bytes data, int target, std::size_t offset) {
    check(" puts ", data.size(), target, offset);
    open().operations.push_back(world_->engine.put(mine(), shared_->group->world_rank(target),
                                                   static_cast<std::int64_t>(data.size())));
    open().targets.push_back(target);
    return {};
}

Ready<> Window::get(Bytes data, int target, std::size_t offset) {
    check(" gets ", data.size(), target, offset);
    open().operations.push_back(world_->engine.get(mine(), shared_->group->world_rank(target),
                                                   static_cast<std::int64_t>(data.size())));
    open().targets.push_back(target);
    return {};
}

// Those that are waited for go to the end, in their order.
bool Window::Flush::await_suspend(std::coroutine_handle<> handle) {
    auto& [operations, targets] = window.open();
    std::vector<machine::RequestId> wanted;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (target == everybody || targets[i] == target) {
            wanted.push_back(operations[i]);
            continue;
        }
        operations[kept] = operations[i];
        targets[kept++] = targets[i];
    }
    std::ranges::copy(wanted, operations.begin() + static_cast<std::ptrdiff_t>(kept));
    return window.world_->engine.await_all(window.mine(), handle, std::span(operations).subspan(kept));
}

void Window::Flush::await_resume() {
    auto& [operations, targets] = window.open();
    window.world_->engine.finish(window.mine(), std::span(operations).subspan(kept));
    operations.resize(kept);
    targets.resize(kept);
}

Task<> Window::free() {
    co_await Flush{*this, everybody};
    co_await Leaving{*this};
}

void Window::Leaving::await_suspend(std::coroutine_handle<> handle) const {
    sim::World& world = *window.world_;
    sim::Group& group = *window.shared_->group;
    group.calls.enter(group, window.rank_, {.what = "the end of a window"});
    world.come(group, window.rank_, handle, "for all to leave a window", [&] { world.align(group); });
}

Task<> Window::notify(int target) {
    co_await flush(target);
    sim::World& world = *world_;
    const auto shared = shared_;
    world.engine.signal(mine(), shared->group->world_rank(target), [&world, shared, target] {
        const auto at = static_cast<std::size_t>(target);
        if (++shared->notices[at] < shared->wanted[at] || shared->wanted[at] == 0) return;
        shared->wanted[at] = 0;
        world.engine.wake(shared->group->world_rank(target), world.engine.now());
    });
}

void Window::Locking::await_suspend(std::coroutine_handle<> handle) {
    sim::World& world = *window.world_;
    const auto shared = window.shared_;
    shared->locks.resize(static_cast<std::size_t>(shared->group->ranks));
    world.engine.signal(window.mine(), shared->group->world_rank(target),
                        [&world, shared, target = target, asks = window.rank_, exclusive = exclusive] {
                            shared->locks[static_cast<std::size_t>(target)].asking.emplace_back(asks,
                                                                                                exclusive);
                            grant(world, *shared, target);
                        });
    world.engine.park(window.mine(), handle, "for a lock of a window");
}

Ready<> Window::unlock(int target, bool exclusive) {
    sim::World& world = *world_;
    const auto shared = shared_;
    world.engine.signal(mine(), shared->group->world_rank(target), [&world, shared, target, exclusive] {
        sim::WindowLock& lock = shared->locks[static_cast<std::size_t>(target)];
        --lock.holders;
        lock.exclusive = lock.exclusive && !exclusive;
        grant(world, *shared, target);
    });
    return {};
}

// A word goes back to each whose turn it is.
void Window::grant(sim::World& world, Shared& shared, int target) {
    sim::WindowLock& lock = shared.locks[static_cast<std::size_t>(target)];
    const int from = shared.group->world_rank(target);
    while (!lock.asking.empty() && !lock.exclusive && (lock.holders == 0 || !lock.asking.front().second)) {
        const auto [asks, exclusive] = lock.asking.front();
        lock.asking.pop_front();
        ++lock.holders;
        lock.exclusive = exclusive;
        const int to = shared.group->world_rank(asks);
        constexpr std::int64_t word = 8;
        const machine::Protocol& way = world.engine.protocol(from, to, word);
        world.engine.wake(to, world.engine.now() + world.engine.under_way(from, to, way, word));
    }
}

bool Window::Notified::await_ready() {
    return window.shared_->notices[static_cast<std::size_t>(window.rank_)] >= count;
}

void Window::Notified::await_suspend(std::coroutine_handle<> handle) {
    window.shared_->wanted[static_cast<std::size_t>(window.rank_)] = count;
    window.world_->engine.park(window.mine(), handle, "for a notice in a window");
}

}  // namespace leadline
