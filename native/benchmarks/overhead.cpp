// How long is the processor busy with sending, and with receiving, one message?
//
// LogGP's o. Sending: a train of messages, each followed by a delay longer than a round trip, takes a round
// trip plus (n - 1)(o + delay) (Hoefler et al., Low-Overhead LogGP Parameter Assessment, 2007, eq. 3).
// Receiving: the receiver waits until a train has arrived and then times its receives; above the eager limit
// that includes the transfer.
#include <algorithm>
#include <limits>

#include "harness/benchmark.hpp"

namespace leadline {
namespace {

constexpr int train = 8;   // messages
constexpr int trains = 8;  // of late receives in one sample: one alone is too short for the clock

// What one reading of the clock adds to the time between two of them: the least of several trials, as the
// processor may be taken away during one, and a sample would then lose more than it had.
double reading(const Run& run) {
    constexpr int trials = 16, readings = 64;
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < trials; ++trial) {
        const double begin = run.now();
        for (int k = 1; k < readings; ++k) (void)run.now();
        least = std::min(least, (run.now() - begin) / readings);
    }
    return least;
}

// A train from rank 0 with a delay after each message, answered once; its time on rank 0.
Task<double> spaced_train(Run& run, Bytes data, int messages, double delay) {
    Comm& world = run.world();
    const double begin = run.now();
    if (world.rank() == 0) {
        for (int k = 0; k < messages; ++k) {
            co_await world.send(data, 1);
            if (k + 1 < messages) co_await run.busy(delay);
        }
        co_await world.recv({}, 1, 1);
    } else {
        for (int k = 0; k < messages; ++k) co_await world.recv(data, 0);
        co_await world.send({}, 0, 1);
    }
    co_return run.now() - begin;
}

// The delays of such a train alone.
Task<double> delays(Run& run, double delay) {
    const double begin = run.now();
    for (int k = 0; k + 1 < train; ++k) co_await run.busy(delay);
    co_return run.now() - begin;
}

// Receives on rank 1 that begin once the whole train must have arrived; their time there.
Task<double> late_receives(Run& run, Bytes data, double delay) {
    Comm& world = run.world();
    double spent = 0;
    if (world.rank() == 0) {
        std::vector<Comm::Request> requests(train);
        for (auto& request : requests) request = world.isend(data, 1);
        co_await world.send({}, 1, 2);
        co_await world.wait_all(requests);
    } else {
        co_await world.recv({}, 0, 2);  // the train is ahead of this, in order
        co_await run.busy(delay);
        const double begin = run.now();
        for (int k = 0; k < train; ++k) co_await world.recv(data, 0);
        spent = run.now() - begin;
    }
    co_return spent;
}

}  // namespace

BENCHMARK(overhead, ranks(2), sizes("bytes", powers(1, 65536), "message size"),
          difference("send_overhead", Unit::second, lower, mean, "processor time to send one message"),
          metric("receive_overhead", Unit::second, lower, mean,
                 "processor time to receive one message that has arrived"),
          Sampling{.one_operation = true}) {
    const Bytes data = run.buffers(run["bytes"])[0];
    constexpr double least_delay = 5e-6;  // s; covers a round trip of small messages from the first sample on
    double delay = least_delay;
    const double tick = reading(run);
    while (co_await run.next_sample()) {
        run.start();
        const double one = co_await spaced_train(run, data, 1, 0);
        delay = std::max(least_delay, 2 * one);
        const double all = co_await spaced_train(run, data, train, delay);
        const double idle = co_await delays(run, delay);
        double receives = 0;
        for (int k = 0; k < trains; ++k) receives += co_await late_receives(run, data, delay) - tick;
        run.stop();
        // Of three intervals one is added and two are taken away, and so are their readings of the clock.
        if (run.world().rank() == 0) run.sample("send_overhead", (all - one - idle + tick) / (train - 1));
        else run.sample("receive_overhead", receives / (train * trains));
    }
}

}  // namespace leadline
