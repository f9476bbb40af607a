// How the calls of a collective follow one another and are timed, where they are not just back to back.
#pragma once

#include <cmath>
#include <cstdint>

#include "harness/collective.hpp"
#include "harness/overlap.hpp"
#include "harness/walk.hpp"

namespace leadline {

inline void give(Run& run, double time) {
    run.sample("time", time);
    run.sample("mean", time);
}

// One at a time, all ranks beginning at one moment. (It has a name since GCC 12 miscompiles what a template
// awaits without one.)
template <class Operation>
Task<> one_by_one(Run& run, Operation& operation) {
    while (co_await run.next_sample()) {
        auto moment = run.align();
        co_await moment;
        co_await operation.begin();
        co_await operation.end();
        give(run, run.since_start());
    }
}

inline void give_overlap(Run& run, double pure, double compute, double together) {
    if (pure > 0 && compute > 0) run.sample("overlap", hidden_share(pure, compute, together));
}

// Steps of `work` that a rank does in a second.
inline Task<double> pace(Run& run) {
    constexpr std::int64_t steps = 100'000;
    const double begin = run.now();
    co_await run.work(steps);
    co_return static_cast<double>(steps) / (run.now() - begin);
}

// Operations alone, then computations that are as long, then each with the other.
template <class Operation>
Task<> beside_work(Run& run, Comm& comm, Operation& operation) {
    const double rate = co_await pace(run);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            co_await operation.begin();
            co_await operation.end();
        }
        run.stop();
        const double pure = run.each();
        const auto steps = static_cast<std::int64_t>(std::ceil(pure * rate));
        const auto batch = static_cast<double>(run.batch().size);
        double begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) co_await run.work(steps);
        const double compute = (run.now() - begin) / batch;
        co_await comm.barrier();
        begin = run.now();
        for ([[maybe_unused]] auto i : run.batch()) {
            co_await operation.begin();
            co_await run.work(steps);
            co_await operation.end();
        }
        give(run, pure);
        give_overlap(run, pure, compute, (run.now() - begin) / batch);
    }
}

template <class Operation>
Task<> one_beside_work(Run& run, Operation& operation) {
    const double rate = co_await pace(run);
    while (co_await run.next_sample()) {
        auto moment = run.align();
        co_await moment;
        co_await operation.begin();
        co_await operation.end();
        const double pure = run.since_start();
        const auto steps = static_cast<std::int64_t>(std::ceil(pure * rate));
        const double begin = run.now();
        co_await run.work(steps);
        const double compute = run.now() - begin;
        auto again = run.align();
        co_await again;
        co_await operation.begin();
        co_await run.work(steps);
        co_await operation.end();
        give(run, pure);
        give_overlap(run, pure, compute, run.since_start());
    }
}

// Each call timed by itself.
template <class Operation>
Task<> timed_singly(Run& run, Comm& comm, Operation& operation, TimedCadence cadence) {
    const Bytes memory = run.buffers(cadence.walked)[0];
    while (co_await run.next_sample()) {
        for (int i = 0; i < cadence.barriers_before; ++i) co_await comm.barrier();
        double inside = 0;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (cadence.walked > 0) {
                auto walked = walk(run, memory);
                co_await walked;
            }
            const double begin = run.now();
            co_await operation.begin();
            co_await operation.end();
            inside += run.now() - begin;
            if (cadence.barrier_after) co_await comm.barrier();
        }
        run.stop();
        give(run, inside / static_cast<double>(run.batch().size));
    }
}

}  // namespace leadline
