// One-sided memory on a described machine.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "comm/sim/world.hpp"
#include "comm/task.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

class Window {
public:
    using Shared = sim::WindowState;
    static constexpr int everybody = -1;  // a target of flush()
    Window(sim::World& world, std::shared_ptr<Shared> shared, int rank)
        : world_(&world), shared_(std::move(shared)), rank_(rank) {}

    Bytes local();
    Bytes reach(int) { return local(); }
    Ready<> put(Bytes data, int target, std::size_t offset);
    Ready<> get(Bytes data, int target, std::size_t offset);
    struct Flush {
        Window& window;
        int target;
        std::size_t kept = 0;  // operations towards others
        bool await_ready() { return false; }
        bool await_suspend(std::coroutine_handle<> handle);
        void await_resume();
    };
    Flush flush(int target) { return {*this, target}; }
    Task<> notify(int target);
    struct Notified {
        Window& window;
        std::int64_t count;
        bool await_ready();
        void await_suspend(std::coroutine_handle<> handle);
        void await_resume() {}
    };
    Notified notified(std::int64_t count) { return {*this, count}; }
    // The word for a lock goes to the target, which grants it once nobody has what excludes it; who asked
    // first there has it first.
    struct Locking {
        Window& window;
        int target;
        bool exclusive;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle);
        void await_resume() {}
    };
    Locking lock(int target, bool exclusive) { return {*this, target, exclusive}; }
    // Nobody waits until the word is there.
    Ready<> unlock(int target, bool exclusive);
    // What is under way towards anybody ends first, and nobody goes on before all have come.
    Task<> free();

private:
    struct Leaving {
        Window& window;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle) const;
        void await_resume() {}
    };
    void check(const char* does, std::size_t bytes, int target, std::size_t offset) const;
    [[nodiscard]] int mine() const { return shared_->group->world_rank(rank_); }
    static void grant(sim::World& world, Shared& shared, int target);
    [[nodiscard]] sim::OpenAccesses& open() { return shared_->open[static_cast<std::size_t>(rank_)]; }
    sim::World* world_;
    std::shared_ptr<Shared> shared_;
    int rank_;
};

}  // namespace leadline
