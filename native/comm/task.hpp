// A coroutine that runs when it is awaited: what a benchmark's body and its parts are made of.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "comm/frames.hpp"

namespace leadline {

// The awaitable of an operation that has already happened: awaiting it suspends nothing. On a real machine
// every operation is one, so `co_await world.send(...)` costs what MPI_Send costs.
template <class T = void>
struct [[nodiscard]] Ready {
    T value;
    static constexpr bool await_ready() noexcept { return true; }
    static constexpr void await_suspend(std::coroutine_handle<>) noexcept {}
    T await_resume() noexcept(noexcept(T(std::move(value)))) { return std::move(value); }
};

template <>
struct [[nodiscard]] Ready<void> {
    static constexpr bool await_ready() noexcept { return true; }
    static constexpr void await_suspend(std::coroutine_handle<>) noexcept {}
    static constexpr void await_resume() noexcept {}
};

namespace detail {

struct PromiseBase {
    std::coroutine_handle<> continuation;
    std::exception_ptr error;

#ifndef LEADLINE_SANITIZE  // which knows only memory that is freed
    static void* operator new(std::size_t bytes) { return frames.take(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept { frames.give(frame, bytes); }
#endif

    struct Final {
        static constexpr bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) noexcept {
            auto next = done.promise().continuation;
            return next ? next : std::noop_coroutine();
        }
        static constexpr void await_resume() noexcept {}
    };

    static std::suspend_always initial_suspend() noexcept { return {}; }
    static Final final_suspend() noexcept { return {}; }
    void unhandled_exception() noexcept { error = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
    std::optional<T> value;
    void return_value(T result) { value = std::move(result); }
    T result() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
    static void return_void() noexcept {}
    static void result() noexcept {}
};

}  // namespace detail

template <class T = void>
class [[nodiscard]] Task {
public:
    struct promise_type : detail::Promise<T> {
        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    };

    Task() noexcept = default;  // none
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    ~Task() {
        if (handle_) handle_.destroy();
    }

    static constexpr bool await_ready() noexcept { return false; }
    // Runs the task at once and goes on with who awaits it where it came to its end: a loop over tasks that
    // are never suspended takes no stack, also where a compiler that does not optimise makes no tail calls.
    bool await_suspend(std::coroutine_handle<> awaiting) noexcept {
        handle_.resume();
        if (handle_.done()) return false;
        handle_.promise().continuation = awaiting;
        return true;
    }
    T await_resume() { return finish(); }

    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

    // Begins the task from ordinary code; true once it has come to its end.
    bool resume() {
        handle_.resume();
        return handle_.done();
    }
    [[nodiscard]] bool done() const { return handle_.done(); }
    [[nodiscard]] bool failed() const { return handle_.promise().error != nullptr; }

    // Runs the task, of which no part is ever suspended, to its end. Throws std::logic_error where one was.
    T complete() {
        if (!resume()) throw std::logic_error("a task was suspended where nothing resumes it");
        return finish();
    }

    [[nodiscard]] std::coroutine_handle<> handle() const { return handle_; }

    // What the finished task returned. Throws what the task threw.
    T finish() {
        if (auto error = handle_.promise().error) std::rethrow_exception(error);
        return handle_.promise().result();
    }

private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    std::coroutine_handle<promise_type> handle_{};
};

}  // namespace leadline
