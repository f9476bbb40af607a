// Patterns that several benchmarks share: a ping-pong between any two ranks, streams of windows, and traffic
// that runs while something else is measured.
#pragma once

#include <array>
#include <vector>

#include "harness/run.hpp"

namespace leadline {

struct Pair {
    int from;
    int to;
};

// One sample of ping-pongs between the two ranks; the others stand by. The sender's `run.each()` is a round
// trip.
inline Task<> pingpong_sample(Run& run, Pair pair, Bytes data) {
    Comm& world = run.world();
    run.start();
    for ([[maybe_unused]] auto i : run.batch()) {
        if (world.rank() == pair.from) {
            co_await world.send(data, pair.to);
            co_await world.recv(data, pair.to);
        } else if (world.rank() == pair.to) {
            co_await world.recv(data, pair.from);
            co_await world.send(data, pair.from);
        }
    }
    run.stop();
}

// Windows of non-blocking sends, each ended by an empty answer of the receiver.
class Stream {
public:
    Stream(Run& run, Pair pair, std::int64_t bytes, std::int64_t window)
        : world_(run.world()),
          pair_(pair),
          data_(run.buffers(bytes)[0]),
          requests_(static_cast<std::size_t>(window)) {}

    [[nodiscard]] bool sends() const { return world_.rank() == pair_.from; }
    [[nodiscard]] bool receives() const { return world_.rank() == pair_.to; }
    [[nodiscard]] double bytes() const {
        return static_cast<double>(data_.size()) * static_cast<double>(requests_.size());
    }

    // One window, on the sender and on the receiver; nothing on other ranks.
    Task<> window() {
        if (sends()) {
            for (auto& request : requests_) request = world_.isend(data_, pair_.to);
            co_await world_.wait_all(requests_);
            co_await world_.recv({}, pair_.to, answer);
        } else if (receives()) {
            for (auto& request : requests_) request = world_.irecv(data_, pair_.from);
            co_await world_.wait_all(requests_);
            co_await world_.send({}, pair_.from, answer);
        }
    }

    [[nodiscard]] Pair pair() const { return pair_; }

private:
    static constexpr int answer = 1;
    Comm& world_;
    Pair pair_;
    Bytes data_;
    std::vector<Comm::Request> requests_;
};

// Streams that run from before a measurement until after it, so that the measured stream never runs without
// them, however much faster it is.
class Traffic {
public:
    Traffic(Run& run, std::vector<Pair> pairs, int measurer, std::int64_t bytes, std::int64_t window)
        : world_(run.world()), pairs_(std::move(pairs)), measurer_(measurer) {
        for (const Pair& pair : pairs_)
            if (world_.rank() == pair.from || world_.rank() == pair.to)
                mine_.emplace_back(run, pair, bytes, window);
    }

    // On the measurer, before its measurement: returns once every stream has moved a window.
    Task<> running() {
        for (const Pair& pair : pairs_) co_await world_.recv({}, pair.from, ready);
    }

    // On the measurer, after it.
    Task<> stop() {
        for (const Pair& pair : pairs_) co_await world_.send({}, pair.from, enough);
    }

    // On the ranks of a stream: returns when the measurer has said stop. Nothing on other ranks.
    Task<> run() {
        if (mine_.empty()) co_return;
        if (mine_.front().sends()) co_await feed(mine_.front());
        else co_await drain(mine_.front());
    }

private:
    static constexpr int ready = 2;
    static constexpr int enough = 3;
    static constexpr int more = 4;

    // Before each window the sender says whether there is one.
    Task<> feed(Stream& stream) {
        Comm::Request stop = world_.irecv({}, measurer_, enough);
        std::array<std::byte, 1> word{std::byte{1}};
        co_await world_.send(word, stream.pair().to, more);
        co_await stream.window();
        co_await world_.send({}, measurer_, ready);
        while (!co_await world_.test(stop)) {
            co_await world_.send(word, stream.pair().to, more);
            co_await stream.window();
        }
        word[0] = std::byte{0};
        co_await world_.send(word, stream.pair().to, more);
    }

    Task<> drain(Stream& stream) {
        std::array<std::byte, 1> word{};
        for (;;) {
            co_await world_.recv(word, stream.pair().from, more);
            if (word[0] == std::byte{0}) co_return;
            co_await stream.window();
        }
    }

    Comm& world_;
    std::vector<Pair> pairs_;
    int measurer_;
    std::vector<Stream> mine_;
};

// Samples of one stream's bandwidth while others' traffic runs: the whole of a benchmark's loop.
inline Task<> stream_under_traffic(Run& run, Pair measured, std::vector<Pair> others, std::int64_t bytes,
                                   std::int64_t window) {
    Stream stream(run, measured, bytes, window);
    Traffic traffic(run, std::move(others), measured.from, bytes, window);
    while (co_await run.next_sample()) {
        if (!stream.sends() && !stream.receives()) {
            co_await traffic.run();  // untimed: how long it took says nothing about the measured batch
            continue;
        }
        if (stream.sends()) co_await traffic.running();
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await stream.window();
        run.stop();
        if (stream.sends()) {
            co_await traffic.stop();
            run.sample("bandwidth", stream.bytes() / run.each());
        }
    }
}

}  // namespace leadline
