#include "comm/sim/waits.hpp"

#include <algorithm>
#include <utility>

namespace leadline::sim {

using machine::never;
using machine::no_request;
using machine::Time;

bool Any::await_suspend(std::coroutine_handle<> handle) {
    if (std::ranges::all_of(operations, [](auto each) { return each == no_request; })) return false;
    return engine.await_one(rank, handle, operations);
}

int Any::await_resume() {
    int first = -1;
    Time earliest = never;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (operations[i] == no_request) continue;
        engine.disregard(operations[i]);
        if (const Time done = engine.done(operations[i]); done < earliest) {
            earliest = done;
            first = static_cast<int>(i);
        }
    }
    if (first >= 0)
        engine.finish(rank, std::exchange(operations[static_cast<std::size_t>(first)], no_request));
    return first;
}

bool Test::await_ready() const {
    return std::ranges::all_of(operations, [](auto each) { return each == no_request; });
}

void Test::await_suspend(std::coroutine_handle<> handle) {
    engine.enter(rank);
    engine.spend(rank, engine.machine().node.poll);
    engine.await_now(rank, handle, operations);
}

bool Test::await_resume() {
    const Time now = engine.clock(rank);
    for (const auto each : operations)
        if (each != no_request && engine.done(each) > now) return false;
    engine.finish(rank, operations);
    return true;
}

}  // namespace leadline::sim
