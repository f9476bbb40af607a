// An operation that was made ready, begun and ended again and again.
#pragma once

#include <concepts>
#include <cstddef>

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

// Samples of it back to back; `give` is called after each. (What is awaited has a name since GCC 12
// miscompiles what a template awaits without one.)
template <Immediate Operation, class Give>
Task<> sampled(Run& run, Operation& operation, Give give) {
    for (;;) {
        auto next = run.next_sample();
        if (!co_await next) break;
        run.start();
        do_again(operation, run.batch().size);
        run.stop();
        give();
    }
}

template <class Operation, class Give>
Task<> sampled(Run& run, Operation& operation, Give give) {
    for (;;) {
        auto next = run.next_sample();
        if (!co_await next) break;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            co_await operation.begin();
            co_await operation.end();
        }
        run.stop();
        give();
    }
}

}  // namespace leadline
