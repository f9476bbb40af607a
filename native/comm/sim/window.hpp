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
    Window(sim::World& world, std::shared_ptr<Shared> shared, int rank)
        : world_(&world), shared_(std::move(shared)), rank_(rank) {}

    Bytes local() { return *shared_->memory; }
    Bytes reach(int) { return *shared_->memory; }
    Ready<> put(Bytes data, int target, std::size_t offset);
    Ready<> get(Bytes data, int target, std::size_t offset);
    struct Flush {
        Window& window;
        bool await_ready() { return false; }
        bool await_suspend(std::coroutine_handle<> handle);
        void await_resume();
    };
    // Ends what this rank began towards any target: no machine here tells them apart.
    Flush flush(int) { return {*this}; }
    Task<> notify(int target);
    struct Notified {
        Window& window;
        std::int64_t count;
        bool await_ready();
        void await_suspend(std::coroutine_handle<> handle);
        void await_resume() {}
    };
    Notified notified(std::int64_t count) { return {*this, count}; }
    // What is under way towards anybody ends first.
    Flush free() { return {*this}; }

private:
    [[nodiscard]] int mine() const { return shared_->group->world_rank(rank_); }
    [[nodiscard]] std::vector<machine::Operation>& open() {
        return shared_->open[static_cast<std::size_t>(rank_)];
    }
    sim::World* world_;
    std::shared_ptr<Shared> shared_;
    int rank_;
};

}  // namespace leadline
