// One-sided accesses of a recorded program. Epochs of a few ranks are opened and closed by messages.
#include <algorithm>
#include <string>
#include <utility>

#include "program/player.hpp"

namespace leadline::program {

Task<> Player::flush(Exposed& exposed, int target) {
    for (const int reached : exposed.reached)
        if (target == any_peer || reached == target) co_await exposed.window->flush(reached);
    std::erase_if(exposed.reached, [&](int reached) { return target == any_peer || reached == target; });
}

void Player::wrong(const char* does) const { Run::skip("rank " + std::to_string(run_.rank()) + " " + does); }

Task<> Player::unlock(Exposed& exposed, int target) {
    const auto held = exposed.lock_of(target);
    if (held == exposed.locked.end()) wrong("ends a lock of a window that it does not hold");
    const bool exclusive = held->second;
    exposed.locked.erase(held);
    if (target != any_peer) co_await exposed.window->unlock(target, exclusive);
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
            if (std::exchange(exposed.posted, true)) wrong("posts a window twice, with no wait in between");
            for (const std::int64_t origin : sequence_.list(step.gives))
                forgotten_.push_back(among.isend(out(0), static_cast<int>(origin), exposed.tag));
            break;
        case Kind::start_epoch:
            if (std::exchange(exposed.started, true)) wrong("starts an epoch of a window within another");
            for (const std::int64_t target : sequence_.list(step.gives))
                co_await among.recv(in(0), static_cast<int>(target), exposed.tag);
            break;
        case Kind::complete:
            if (!std::exchange(exposed.started, false)) wrong("completes an epoch that it has not started");
            co_await flush(exposed, any_peer);
            for (const std::int64_t target : sequence_.list(step.gives))
                forgotten_.push_back(among.isend(out(0), static_cast<int>(target), exposed.tag + 1));
            break;
        case Kind::wait_epoch:
            if (!std::exchange(exposed.posted, false)) wrong("waits for a window that it has not posted");
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
        case Kind::lock:
            if (exposed.lock_of(peer) != exposed.locked.end()) wrong("locks what it holds in a window");
            // One of all ranks is shared, and as in MPI libraries nothing is asked for it.
            if (peer != any_peer) co_await exposed.window->lock(peer, step.mode == exclusive_lock);
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
