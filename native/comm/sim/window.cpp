#include "comm/sim/window.hpp"

#include <cstdint>

namespace leadline {

Ready<> Window::put(Bytes data, int target, std::size_t) {
    open().push_back(world_->engine.put(mine(), shared_->group->world_rank(target),
                                        static_cast<std::int64_t>(data.size())));
    return {};
}

Ready<> Window::get(Bytes data, int target, std::size_t) {
    open().push_back(world_->engine.get(mine(), shared_->group->world_rank(target),
                                        static_cast<std::int64_t>(data.size())));
    return {};
}

bool Window::Flush::await_suspend(std::coroutine_handle<> handle) {
    return window.world_->engine.await_all(window.mine(), handle, window.open());
}

void Window::Flush::await_resume() {
    window.world_->engine.finish(window.mine(), window.open());
    window.open().clear();
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

bool Window::Notified::await_ready() {
    return window.shared_->notices[static_cast<std::size_t>(window.rank_)] >= count;
}

void Window::Notified::await_suspend(std::coroutine_handle<> handle) {
    window.shared_->wanted[static_cast<std::size_t>(window.rank_)] = count;
    window.world_->engine.park(window.mine(), handle, "for a notice in a window");
}

}  // namespace leadline
