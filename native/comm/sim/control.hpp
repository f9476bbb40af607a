// How the harness speaks between the ranks of a described machine, which charges nothing for it.
#pragma once

#include <coroutine>
#include <cstdint>
#include <span>

#include "comm/sim/world.hpp"
#include "comm/task.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

class Control {
public:
    static constexpr bool simulated = true;
    static constexpr bool carries() { return false; }
    Control(sim::World* world, int rank, int ranks) : world_(world), rank_(rank), ranks_(ranks) {}
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return ranks_; }
    [[nodiscard]] double now() const { return machine::seconds(world_->engine.clock(rank_)); }

    struct Agreement {
        Control& control;
        std::span<const double> mine;
        Decide decide;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle);
        Verdict await_resume() { return control.world_->verdict; }
    };
    Agreement agree(std::span<const double> mine, const Decide& decide) { return {*this, mine, decide}; }
    // Clocks are one here: nobody is ever late, and no error is made.
    struct Alignment {
        Control& control;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle);
        double await_resume() { return 0; }
    };
    Alignment align() { return {*this}; }
    [[nodiscard]] double since_start() const {
        return machine::seconds(world_->engine.clock(rank_) - world_->aligned);
    }
    [[nodiscard]] static double clock_error() { return 0; }
    Ready<> busy(double seconds) { return pass(machine::from_seconds(seconds)); }
    Ready<> work(std::int64_t steps);
    Ready<> charge(Work work);

private:
    Ready<> pass(machine::Time time) {
        world_->engine.compute(rank_, time);
        return {};
    }
    sim::World* world_;
    std::int32_t rank_;
    std::int32_t ranks_;
};

}  // namespace leadline
