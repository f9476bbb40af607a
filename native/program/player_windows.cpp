// One-sided accesses of a recorded program. Epochs of a few ranks are opened and closed by messages.
#include <algorithm>

#include "program/player.hpp"

namespace leadline::program {

Task<> Player::flush(Exposed& exposed, int target) {
    for (const int reached : exposed.reached)
        if (target == any_peer || reached == target) co_await exposed.window->flush(reached);
    std::erase_if(exposed.reached, [&](int reached) { return target == any_peer || reached == target; });
}

Task<> Player::unlock(Exposed& exposed, int target) {
    const auto held = std::ranges::find(exposed.locked, target, &std::pair<int, bool>::first);
    if (held == exposed.locked.end()) co_return;
    const bool exclusive = held->second;
    exposed.locked.erase(held);
    co_await exposed.window->unlock(target, exclusive);
}

// Ranks of a communicator make its windows in one order, whatever other windows each of them has. Of a
// dynamic window, whose size nobody says, there is as much as any access may need.
Task<> Player::make_window(const Step& step, Exposed& exposed) {
    constexpr int told_apart = 300;  // so that no tag is beyond the least bound that MPI allows, 32,767
    exposed.comm = step.comm;
    exposed.tag = window_tag + 2 * (windows_made_[step.comm]++ % told_apart);
    const auto bytes = step.bytes > 0 ? static_cast<std::size_t>(step.bytes) : out_.size();
    exposed.window.emplace(co_await comm(step).window(bytes, Exposure::allocated));
}

// Epochs that only some ranks take part in.
Task<> Player::epoch(const Step& step, Exposed& exposed, Comm& among) {
    while (forgotten_.size() > most_buffered) co_await oldest();
    switch (step.kind) {
        case Kind::post:
            for (const std::int64_t origin : sequence_.list(step.gives))
                forgotten_.push_back(among.isend(out(0), static_cast<int>(origin), exposed.tag));
            break;
        case Kind::start_epoch:
            for (const std::int64_t target : sequence_.list(step.gives))
                co_await among.recv(in(0), static_cast<int>(target), exposed.tag);
            break;
        case Kind::complete:
            co_await flush(exposed, any_peer);
            for (const std::int64_t target : sequence_.list(step.gives))
                forgotten_.push_back(among.isend(out(0), static_cast<int>(target), exposed.tag + 1));
            break;
        case Kind::wait_epoch:
            for (const std::int64_t origin : sequence_.list(step.gives))
                co_await among.recv(in(0), static_cast<int>(origin), exposed.tag + 1);
            break;
        default: break;
    }
}

Task<> Player::one_sided(const Step& step) {
    Exposed& exposed = windows_[static_cast<std::size_t>(step.extra)];
    if (step.kind == Kind::win) {
        co_await make_window(step, exposed);
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
        // One of all ranks is shared, and as in MPI libraries nothing is asked for it.
        case Kind::lock:
            if (peer == any_peer) break;
            co_await exposed.window->lock(peer, step.mode == exclusive_lock);
            exposed.locked.emplace_back(peer, step.mode == exclusive_lock);
            break;
        case Kind::unlock:
            co_await flush(exposed, peer);
            co_await unlock(exposed, peer);
            break;
        case Kind::flush: co_await flush(exposed, peer); break;
        case Kind::win_free:
            co_await flush(exposed, any_peer);
            co_await exposed.window->free();
            exposed.window.reset();
            break;
        default: co_await epoch(step, exposed, among);
    }
}

}  // namespace leadline::program
