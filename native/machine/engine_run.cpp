// What happens when: the calendar of events, and who goes on next.
#include <algorithm>
#include <utility>

#include "machine/engine.hpp"

namespace leadline::machine {

namespace {

// Inlined always: GCC leaves out calls of functions that only fetch.
template <class Object>
[[gnu::always_inline]] inline void fetch_ends(const Object& object) {
    __builtin_prefetch(&object);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(&object + 1) - 1);  // NOLINT(*-reinterpret-cast)
}

[[gnu::always_inline]] inline void fetch_program(std::coroutine_handle<> handle) {
    constexpr std::size_t line = 64;  // B of a cache
    const auto* frame = static_cast<const std::byte*>(handle.address());
    if (!frame) return;
    for (const std::size_t each : {0, 1, 2, 3, 4}) __builtin_prefetch(frame + each * line);
}

}  // namespace

template <int step>
[[gnu::always_inline]] inline void Engine::fetch(const Event& event) const {
    // A rank's lines, and what it has posted.
    const auto fetch_rank = [&](int rank) __attribute__((always_inline)) {
        if constexpr (step == 1) {
            __builtin_prefetch(&at(rank));
            posted_.fetch(rank);
            unexpected_.fetch(rank);
        }
        if constexpr (step == 2) fetch_program(at(rank).handle);
        if constexpr (step == 3)
            if (const auto receive = posted_.first_id(rank); receive != MatchQueues::none)
                __builtin_prefetch(&operations_[receive]);
    };
    switch (event.kind) {
        case Kind::inject:
            if constexpr (step == 0) fetch_ends(messages_[event.id]);
            if constexpr (step == 1) {
                __builtin_prefetch(&placement(messages_[event.id].to));
                __builtin_prefetch(&placement(messages_[event.id].from));
            }
            if constexpr (step == 2) {
                const Message& message = messages_[event.id];
                network_->expect(placement(message.from).node, placement(message.to).node);
            }
            break;
        case Kind::reach: {
            const Message& message = messages_[event.id];
            if constexpr (step == 0) fetch_ends(message);
            if constexpr (step > 0) fetch_rank(message.to);
            if constexpr (step == 2) {
                posted_.fetch_first(message.to);
                unexpected_.fetch_first(message.to);
            }
            if constexpr (step == 3)
                if (const auto waiting = unexpected_.first_id(message.to); waiting != MatchQueues::none)
                    fetch_ends(messages_[waiting]);
            break;
        }
        case Kind::together:
        case Kind::call: break;
        case Kind::soon:
        case Kind::settle: {
            const auto& arrived = cores_[event.id].arrived;
            if constexpr (step == 0) fetch_ends(cores_[event.id]);
            if constexpr (step == 1) __builtin_prefetch(arrived.data());
            if constexpr (step > 0) fetch_rank(static_cast<int>(event.id));
            if constexpr (step == 2)
                if (!arrived.empty()) fetch_ends(messages_[arrived.front()]);
            break;
        }
        case Kind::left:
            if constexpr (step == 0) __builtin_prefetch(&operations_[event.id]);
            if constexpr (step == 1) __builtin_prefetch(&at(operations_[event.id].rank));
            if constexpr (step == 2) fetch_program(at(operations_[event.id].rank).handle);
            break;
        case Kind::wake:
            if constexpr (step == 0) __builtin_prefetch(&at(static_cast<int>(event.id)));
            if constexpr (step == 1) fetch_program(at(static_cast<int>(event.id)).handle);
            break;
    }
}

void Engine::run(const std::function<bool(int)>& ended) {
    constexpr std::size_t ahead = 16;  // ranks whose programs are fetched while others go on
    ended_ = ended;
    stopped_ = false;
    for (int rank = 0; rank < players_; ++rank)
        if (at(rank).handle) ready_.push_back(rank);
    for (;;) {
        for (std::size_t i = 0; i < ready_.size() && !stopped_; ++i) {
            if (i + ahead < ready_.size()) fetch_program(at(ready_[i + ahead]).handle);
            resume(ready_[i]);
        }
        ready_.clear();
        if (stopped_) return;
        if (before_events_) {
            std::exchange(before_events_, {})();
            continue;
        }
        // What ranks do at an instant comes before what the network makes of it, so that messages of one
        // instant are seen together.
        const Time event = events_.next();
        const Time inner = network_->next();
        if (event == never && inner == never) break;
        now_ = std::max(now_, std::min(event, inner));
        if (now_ > longest) [[unlikely]]
            too_long(seconds(now_));
        if (event <= inner) {
            const auto see = [this](const Event& each, auto step) __attribute__((always_inline)) {
                fetch<step>(each);
            };
            events_.foresee(see);
            const Event next = events_.pop(see);
            now_ = std::max(events_.now(), now_);  // the same, made of what the event's time is
            happen(next);
        } else {
            network_->advance();
        }
    }
    if (std::any_of(ranks_.begin(), ranks_.begin() + players_, [](const Rank& rank) { return !rank.ended; }))
        throw Deadlock(who_waits());
    check_nothing_left();
}

int Engine::beside(int rank, Time clock) {
    if (free_beside_.empty()) {
        free_beside_.push_back(static_cast<int>(ranks_.size()));
        ranks_.emplace_back();
        beside_.push_back(0);
    }
    const int agent = free_beside_.back();
    free_beside_.pop_back();
    at(agent) = {};
    at(agent).clock = clock;
    beside_[static_cast<std::size_t>(agent - players_)] = rank;
    if (!detours_.empty()) begin_detours(agent, clock);
    return agent;
}

void Engine::end_beside(int agent) { free_beside_.push_back(agent); }

void Engine::resume(int rank) {
    const auto handle = std::exchange(at(rank).handle, {});
    at(rank).parked = nullptr;
    handle.resume();
    if (at(rank).handle || rank >= players_) return;
    at(rank).ended = true;
    stopped_ = ended_(rank) || stopped_;
}

void Engine::happen(const Event& event) {
    switch (event.kind) {
        case Kind::inject: inject(event.id); break;
        case Kind::reach: reach(event.id); break;
        case Kind::left: complete(event.id, now_); break;
        case Kind::wake:
            ask();
            ready_.push_back(static_cast<int>(event.id));
            break;
        case Kind::together: go_together(event.id); break;
        case Kind::soon:
            if (events_.next() > now_) settle(static_cast<int>(event.id));
            else events_.push(now_, {Kind::settle, event.id});
            break;
        case Kind::settle: settle(static_cast<int>(event.id)); break;
        case Kind::call:
            calls_.give_back(event.id);
            std::exchange(calls_[event.id], {})();
            break;
    }
}

}  // namespace leadline::machine
