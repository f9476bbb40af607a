// How much do long queues of posted receives or unexpected messages delay a message?
//
// A ping-pong behind a queue of receives that were posted earlier, or of messages that arrived unexpected,
// each with a tag of its own. The next receive is posted before the answer is sent, so that its search
// through the messages that wait is paid for as well (after Underwood and Brightwell, The Impact of MPI Queue
// Usage on Message Latency, ICPP 2004).
#include "harness/benchmark.hpp"

namespace leadline {

BENCHMARK(matching, ranks(2),
          choice("queue", {"posted", "unexpected"},
                 "what is queued: posted receives, or unexpected messages"),
          counts("depth", {0, 1, 4, 16, 64, 256, 1024}, "length of the queue"),
          sizes("bytes", {8}, "message size"),
          metric("latency", Unit::second, lower, root, "half of one round trip")) {
    constexpr std::int64_t most = 32767;  // the largest tag that the MPI standard promises
    if (run["depth"] > most)
        Run::skip(std::to_string(run["depth"]) + " that wait need a tag each, and MPI promises " +
                  std::to_string(most));
    Comm& world = run.world();
    const int peer = 1 - world.rank();
    const auto depth = static_cast<int>(run["depth"]);
    const bool posted = run.word("queue") == "posted";
    const Bytes out = run.buffers(run["bytes"])[0];
    const Bytes in = run.buffers(run["bytes"])[0];
    std::vector<Comm::Request> queue;
    for (int tag = 1; tag <= depth; ++tag)
        queue.push_back(posted ? world.irecv({}, peer, tag) : world.isend({}, peer, tag));
    Comm::Request next = world.irecv(in, peer);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            if (world.rank() == 0) co_await world.send(out, peer);
            co_await world.wait(next);
            next = world.irecv(in, peer);
            if (world.rank() == 1) co_await world.send(out, peer);
        }
        run.stop();
        run.sample("latency", run.each() / 2);
    }
    co_await world.send(out, peer);
    co_await world.wait(next);
    for (int tag = 1; tag <= depth; ++tag) {
        if (posted) co_await world.send({}, peer, tag);
        else co_await world.recv({}, peer, tag);
    }
    co_await world.wait_all(queue);
}

}  // namespace leadline
