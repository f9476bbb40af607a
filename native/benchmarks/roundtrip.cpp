// How long until the sender knows that its data have arrived, one-sided and two-sided?
//
// Put or get and wait for its completion at the target; put, count up there and be told so; or send (blocking
// and non-blocking) and wait for an empty answer; or copy into memory that both share (Bell et al., one-sided
// communication and overlap, 4.1).
#include "harness/benchmark.hpp"
#include "harness/operations.hpp"

namespace leadline {
namespace {

std::vector<std::string> operations() {
    std::vector<std::string> all{"send", "isend", "put-notify"};
    all.insert(all.end(), one_sided_operations.begin(), one_sided_operations.end());
    return all;
}

Task<> one_sided(Run& run, const Operation& operation) {
    Comm& world = run.world();
    const Bytes data = run.buffers(run["bytes"])[0];
    auto window = co_await world.window(data.size(), operation.exposure);
    const Bytes there = operation.direct ? window.reach(1) : Bytes();
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() != 0) break;  // the target takes no part
            if (operation.direct) {
                co_await run.compute(copying(data), [&] { copy_directly(operation, data, there); });
                fence_directly();
                continue;
            }
            if (operation.put) co_await window.put(data, 1, 0);
            else co_await window.get(data, 1, 0);
            co_await window.flush(1);
        }
        run.stop();
        if (world.rank() == 0) run.sample("latency", run.each());
    }
    co_await window.free();
}

// A put and a notice there, answered by a notice.
Task<> notified(Run& run) {
    Comm& world = run.world();
    const Bytes data = run.buffers(run["bytes"])[0];
    auto window = co_await world.window(data.size(), Exposure::allocated);
    std::int64_t notices = 0;
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            ++notices;
            if (world.rank() == 0) {
                co_await window.put(data, 1, 0);
                co_await window.notify(1);
                co_await window.notified(notices);
            } else {
                co_await window.notified(notices);
                co_await window.notify(0);
            }
        }
        run.stop();
        if (world.rank() == 0) run.sample("latency", run.each());
    }
    co_await window.free();
}

Task<> two_sided(Run& run, bool blocking) {
    Comm& world = run.world();
    const Bytes data = run.buffers(run["bytes"])[0];
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() == 0) {
                if (blocking) {
                    co_await world.send(data, 1);
                    co_await world.recv({}, 1);
                } else {
                    Comm::Request answer = world.irecv({}, 1);
                    Comm::Request sent = world.isend(data, 1);
                    co_await world.wait(sent);
                    co_await world.wait(answer);
                }
            } else if (blocking) {
                co_await world.recv(data, 0);
                co_await world.send({}, 0);
            } else {
                Comm::Request arrived = world.irecv(data, 0);
                co_await world.wait(arrived);
                Comm::Request answer = world.isend({}, 0);
                co_await world.wait(answer);
            }
        }
        run.stop();
        run.sample("latency", run.each());
    }
}

}  // namespace

BENCHMARK(roundtrip, ranks(2), choice("operation", operations(), "operation that moves the data"),
          sizes("bytes", powers(1, 65536), "message size"),
          metric("latency", Unit::second, lower, root, "time from the call until arrival is known")) {
    const Operation operation = parse_operation(run.word("operation"));
    if (run.word("operation") == "put-notify") co_await notified(run);
    else if (operation.one_sided) co_await one_sided(run, operation);
    else co_await two_sided(run, operation.blocking);
}

}  // namespace leadline
