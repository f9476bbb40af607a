// An operation that was made ready, begun and ended again and again.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>

#include "harness/run.hpp"

namespace leadline {

// Whether the operation's words are done when they return, as on a real machine.
template <class Operation>
concept Immediate = requires(Operation& operation) {
    { operation.begin() } -> std::same_as<Ready<>>;
    { operation.end() } -> std::same_as<Ready<>>;
};

// No coroutine, so that a compiler keeps in registers what it keeps in memory of a coroutine's frame: 4 of
// the 100 ns of a short broadcast (`make bench PARTS=collectives`).
template <Immediate Operation>
void do_again(Operation& operation, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
        (void)operation.begin();
        (void)operation.end();
    }
}

// Samples of it back to back; `give(run)` is called after each. `make(run, operation)` makes it ready where
// it is told to, and may leave a rank without one, which stands by. All is in one frame, of which a million
// ranks have one each, so that what is made is made in its place. (What is awaited has a name since GCC 12
// miscompiles what a template awaits without one.)
template <Immediate Operation, class Make, class Give>
Task<> sampled(Run& run, Make make, Give give) {
    std::optional<Operation> operation;
    {
        auto made = make(run, operation);
        co_await made;
    }
    for (;;) {
        auto next = run.next_sample();
        if (!co_await next) break;
        if (!operation) continue;
        run.start();
        do_again(*operation, run.batch().size);
        run.stop();
        give(run);
    }
    if (operation) (void)operation->free();
}

template <class Operation, class Make, class Give>
Task<> sampled(Run& run, Make make, Give give) {
    std::optional<Operation> operation;
    {
        auto made = make(run, operation);
        co_await made;
    }
    for (;;) {
        auto next = run.next_sample();
        if (!co_await next) break;
        if (!operation) continue;
        run.start();
        for (std::size_t left = run.batch().size; left > 0; --left) {
            auto begun = operation->begin();
            co_await begun;
            auto ended = operation->end();
            co_await ended;
        }
        run.stop();
        give(run);
    }
    if (operation) co_await operation->free();
}

// A collective that blocks, made ready as `sampled` wants it.
inline Task<> make_ready(Comm& comm, const Call& call, std::optional<Comm::Prepared>& operation) {
    operation.emplace(co_await comm.prepare(call, Form::blocking));
}

}  // namespace leadline
