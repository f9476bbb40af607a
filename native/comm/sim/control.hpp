// How the harness speaks between the ranks of a described machine, which charges nothing for it.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/sim/waits.hpp"
#include "comm/sim/world.hpp"
#include "comm/task.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

class Control {
public:
    static constexpr bool computes = false;
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
    Ready<> busy(double seconds) {
        machine::Time time = machine::from_seconds(seconds);
        machine::mark(time, machine::TimePart::computation);
        return pass(time);
    }
    // Of which the rank's time is made so far, by machine::TimePart, where the simulator was built to know
    // it; s, of messages their number.
#ifdef LEADLINE_PARTS
    static constexpr std::size_t parts = machine::parts;
    [[nodiscard]] std::array<double, parts> made_of() const {
        const machine::Time clock = world_->engine.clock(rank_);
        std::array<double, parts> all{};
        for (std::size_t i = 0; i < parts; ++i) all[i] = 1e-12 * static_cast<double>(clock.of(i));
        all[static_cast<std::size_t>(machine::TimePart::messages)] *= 1e12;
        return all;
    }
#endif
    sim::Turn turn(bool sends) { return {world_->engine, rank_, sends}; }
    [[nodiscard]] double on_shared_core(double seconds) const {
        return seconds / world_->engine.share_of_core(rank_);
    }
    // It has computed so long, in memory of its own of so many bytes.
    void walked(double seconds, double memory) {
        if (auto* const coldness = world_->engine.coldness()) coldness->walk_for(rank_, seconds, memory);
    }
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
