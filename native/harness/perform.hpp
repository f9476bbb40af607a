// A collective by one of the algorithms of collectives/, done over point-to-point messages: what a library's
// own collective can be held against.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "comm/comm.hpp"

namespace leadline {

class P2PCollective {
public:
    // Makes ready the collective that is asked for, by the algorithm that the call names, or by the usual
    // one; all ranks together. All lists and memory are made here and none while it runs. Throws Unsupported
    // for what there is no algorithm for. The buffers of the call must live as long; its layouts need not.
    static Task<P2PCollective> prepare(Comm comm, Call call);

    struct State;

    // Done when it returns: it blocks.
    struct Begin {
        State& state;
        static constexpr bool await_ready() noexcept { return false; }
        bool await_suspend(std::coroutine_handle<> caller);
        void await_resume();
    };
    [[nodiscard]] Begin begin() { return {*state_}; }
    static Ready<bool> test() { return {true}; }
    static Ready<> end() { return {}; }
    Ready<> free() {
        state_.reset();
        return {};
    }

    // How many messages this rank sends in it, and how much of its own memory it takes.
    struct Needs {
        std::int64_t messages = 0;
        std::int64_t sent = 0;  // bytes
        std::size_t memory = 0;
    };
    [[nodiscard]] Needs needs() const;

private:
    explicit P2PCollective(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

static_assert(Repeatable<P2PCollective>);

}  // namespace leadline
