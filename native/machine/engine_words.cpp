// The words of a rank that runs: how it ends what it began, and how it waits.
#include <algorithm>
#include <utility>

#include "machine/engine.hpp"

namespace leadline::machine {

int Engine::finish(int rank, RequestId operation) {
    RequestState& pending = operations_[operation];
    at(rank).clock = std::max(at(rank).clock, pending.done);
    if (!collectives_.empty() && !pending.inner) [[unlikely]]
        lose_to_collective(rank, pending);
    if (coldness_ && pending.receives && !to_itself(home(rank), pending.peer)) [[unlikely]] {
        const auto bytes = static_cast<std::int64_t>(pending.data.size());
        spend(rank, coldness_->takes_up(home(rank), pending.asked, bytes));
    }
    spend(rank, pending.cost);
    const int source = pending.source;
    pending.done = 0;
    pending.rank = nobody;
    pending.awaited = false;
    operations_.give_back(operation);
    return source;
}

void Engine::finish(int rank, std::span<RequestId> operations) {
    const auto over = [&](RequestId each) { return operations_[each].done; };
    several_.clear();
    for (RequestId& each : operations)
        if (each != no_request) several_.push_back(std::exchange(each, no_request));
    // Few, and mostly in order already: an insertion sort, which keeps the order of equal ones.
    for (std::size_t i = 1; i < several_.size(); ++i) {
        const RequestId each = several_[i];
        std::size_t place = i;
        for (; place > 0 && over(several_[place - 1]) > over(each); --place)
            several_[place] = several_[place - 1];
        several_[place] = each;
    }
    for (const RequestId each : several_) finish(rank, each);
}

RequestId Engine::open(int rank) { return new_operation(rank, everybody); }

void Engine::close(RequestId operation, Time when) {
    if (when <= now_) complete(operation, when);
    else events_.push(when, {Kind::left, operation});
}

void Engine::on_progress(int rank, std::function<void()> then) {
    if (deferred_.empty()) then();
    else deferred_[static_cast<std::size_t>(rank)].push_back(std::move(then));
}

void Engine::progress(int rank) {
    const auto begun = std::exchange(deferred_[static_cast<std::size_t>(rank)], {});
    for (const auto& each : begun) each();
}

bool Engine::await_one(int rank, std::coroutine_handle<> handle, std::span<const RequestId> operations) {
    enter(rank);
    for (const RequestId each : operations)
        if (each != no_request && operations_[each].done != never) return false;
    for (const RequestId each : operations)
        if (each != no_request) operations_[each].awaited = true;
    at(rank).wanted = 1;
    at(rank).handle = handle;
    return true;
}

bool Engine::await_all(int rank, std::coroutine_handle<> handle, std::span<const RequestId> operations) {
    enter(rank);
    int open = 0;
    for (const RequestId each : operations)
        if (each != no_request && operations_[each].done == never) {
            operations_[each].awaited = true;
            ++open;
        }
    if (open == 0) return false;
    at(rank).wanted = open;
    at(rank).handle = handle;
    return true;
}

void Engine::at_time(Time when, std::function<void()> then) {
    const auto id = calls_.take();
    calls_[id] = std::move(then);
    events_.push(when, {Kind::call, id});
}

void Engine::await_now(int rank, std::coroutine_handle<> handle, std::span<const RequestId> operations) {
    at(rank).handle = handle;
    ++asking_;
    for (const RequestId each : operations)
        if (each != no_request && operations_[each].done == never) asked_ = each;
    events_.push(at(rank).clock, {Kind::wake, static_cast<std::uint32_t>(rank)});
}

void Engine::park(int rank, std::coroutine_handle<> handle, const char* why) {
    at(rank).handle = handle;
    at(rank).parked = why;
    enter(rank);
}

void Engine::wake(int rank, Time when) {
    at(rank).clock = std::max(at(rank).clock, when);
    ready_.push_back(rank);
}

}  // namespace leadline::machine
