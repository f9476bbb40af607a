// How a simulated rank stops for what it began.
#pragma once

#include <array>
#include <coroutine>
#include <span>

#include "machine/engine.hpp"

namespace leadline::sim {

// Until one operation is over.
struct Wait {
    machine::Engine& engine;
    int rank;
    machine::RequestId operation;
    [[nodiscard]] bool await_ready() const {
        engine.enter(rank);
        return operation == machine::no_request || engine.done(operation) != machine::never;
    }
    void await_suspend(std::coroutine_handle<> handle) { engine.await_one(rank, handle, {&operation, 1}); }
    int await_resume() { return operation == machine::no_request ? 0 : engine.finish(rank, operation); }
};
struct Until : Wait {
    void await_resume() { Wait::await_resume(); }
};
struct Both {
    machine::Engine& engine;
    int rank;
    std::array<machine::RequestId, 2> operations;
    bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<> handle) { return engine.await_all(rank, handle, operations); }
    void await_resume() { engine.finish(rank, operations); }
};
struct All {
    machine::Engine& engine;
    int rank;
    std::span<machine::RequestId> operations;
    bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<> handle) { return engine.await_all(rank, handle, operations); }
    void await_resume() { engine.finish(rank, operations); }
};
struct Any {
    machine::Engine& engine;
    int rank;
    std::span<machine::RequestId> operations;
    bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<> handle);
    int await_resume();
};
// Until the rank's core is its program's, to compute or to send: a question of the LogGOPS model's alone.
struct Turn {
    machine::Engine& engine;
    int rank;
    bool sends;
    [[nodiscard]] bool await_ready() const { return !engine.machine().node.loggops; }
    bool await_suspend(std::coroutine_handle<> handle) { return engine.await_core(rank, handle, sends); }
    void await_resume() {}
};
// Whether all of them are over; asking takes time.
struct Test {
    machine::Engine& engine;
    int rank;
    std::span<machine::RequestId> operations;
    [[nodiscard]] bool await_ready() const;
    void await_suspend(std::coroutine_handle<> handle);
    bool await_resume();
};

}  // namespace leadline::sim
