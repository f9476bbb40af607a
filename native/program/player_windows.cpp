// One-sided accesses of a recorded program. Epochs of a few ranks are opened and closed by messages.
#include <algorithm>

#include "program/player.hpp"

namespace leadline::program {

Task<> Player::flush(Exposed& exposed, int target) {
    for (const int reached : exposed.reached)
        if (target == any_peer || reached == target) co_await exposed.window->flush(reached);
    std::erase_if(exposed.reached, [&](int reached) { return target == any_peer || reached == target; });
}

Task<> Player::one_sided(const Step& step) {
    Exposed& exposed = windows_[static_cast<std::size_t>(step.extra)];
    if (step.kind == Kind::win) {
        exposed.comm = step.comm;
        exposed.window.emplace(
            co_await comm(step).window(static_cast<std::size_t>(step.bytes), Exposure::allocated));
        co_return;
    }
    if (!exposed.window) Run::skip("a window is used that was not made");
    Comm& among = numbered(exposed.comm);
    const int peer = step.peer == any_peer ? any_peer : place(step, step.peer);
    const auto reach = [&] {
        if (std::ranges::find(exposed.reached, peer) == exposed.reached.end())
            exposed.reached.push_back(peer);
    };
    switch (step.kind) {
        case Kind::put:
        case Kind::accumulate:
            reach();
            co_await exposed.window->put(out(step.bytes), peer, 0);
            break;
        case Kind::get:
            reach();
            co_await exposed.window->get(in(step.bytes), peer, 0);
            break;
        case Kind::fence:
            co_await flush(exposed, any_peer);
            co_await among.barrier();
            break;
        case Kind::unlock:
        case Kind::flush: co_await flush(exposed, peer); break;
        case Kind::win_free:
            co_await flush(exposed, any_peer);
            co_await exposed.window->free();
            exposed.window.reset();
            break;
        case Kind::post:
            for (const std::int64_t origin : sequence_.list(step.gives))
                co_await among.send(out(0), static_cast<int>(origin), epoch_tag);
            break;
        case Kind::start_epoch:
            for (const std::int64_t target : sequence_.list(step.gives))
                co_await among.recv(in(0), static_cast<int>(target), epoch_tag);
            break;
        case Kind::complete:
            co_await flush(exposed, any_peer);
            for (const std::int64_t target : sequence_.list(step.gives))
                co_await among.send(out(0), static_cast<int>(target), epoch_tag);
            break;
        case Kind::wait_epoch:
            for (const std::int64_t origin : sequence_.list(step.gives))
                co_await among.recv(in(0), static_cast<int>(origin), epoch_tag);
            break;
        default: break;
    }
}

}  // namespace leadline::program
