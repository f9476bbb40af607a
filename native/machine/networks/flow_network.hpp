// The flow tier's inner page: what flow.cpp (messages and streams) and flow_rates.cpp (who flows how fast)
// share, and what its tests look at. What the tier does is told in flow.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "machine/event_queue.hpp"
#include "machine/network.hpp"
#include "machine/networks/approximate_max_min.hpp"
#include "machine/networks/loads.hpp"
#include "machine/networks/max_min_solver.hpp"
#include "machine/networks/pairs.hpp"
#include "machine/pool.hpp"

namespace leadline::machine {

class FlowNetwork final : public Network {
public:
    struct Options {
        std::size_t exact = 256;  // streams of a component that is solved anew with each change
        std::size_t few = 48;     // ... once those solutions have taken too much
        double work = 5e7;        // which is so many steps of filling: about 1 s of a processor
        double tolerance =
            0.03;  // the quantum of larger ones, of the mean time that their messages still take
    };
    FlowNetwork(const Machine& machine, const Topology& topology, Listener& listener, Options options);

    void send(Time now, const Transfer& transfer) override;
    [[nodiscard]] Time next() const override;
    void advance() override;
    [[nodiscard]] Time clear() const override { return clear_; }

    // The part of its capacity that is in use at the fullest resource. For tests; asks all streams.
    [[nodiscard]] double fullest();

private:
    using StreamId = std::int32_t;
    // Of a stream's key: sender, receiver and variant of the route.
    static constexpr unsigned node_bits = 26;
    static constexpr unsigned variant_bits = 11;

    struct Message {
        std::int64_t wire = 0;  // B
        std::uint32_t token = 0;
        Pool<Message>::Id next = Pool<Message>::none;
    };

    enum class State : std::uint8_t { free, waiting, flowing };

    struct Stream {
        std::uint64_t key = 0;
        double most = infinite;  // B/s, alone
        double rate = 0;         // B/s
        double left = 0;         // B of the first message at `since`
        Time since = 0;
        Time due = never;
        Pool<Message>::Id head = Pool<Message>::none;
        Pool<Message>::Id tail = Pool<Message>::none;
        std::int32_t uses = 0;                 // the first of them
        std::uint32_t epoch = 0;               // the agenda's entries of earlier ones are void
        std::uint32_t seen = 0;                // by which walk
        ApproximateMaxMin::Member member = 0;  // of the pool
        std::int32_t length = 0;               // uses
        std::int32_t hops = 0;
        State state = State::free;
        bool pooled = false;
        bool fresh = false;  // all of the first message is left: `since` and `rate` give its end exactly

        [[nodiscard]] int from() const { return static_cast<int>(key >> (node_bits + variant_bits)) - 1; }
        [[nodiscard]] int to() const {
            return static_cast<int>(key >> variant_bits & ((1U << node_bits) - 1));
        }
    };

    struct Event {
        StreamId stream;
        std::uint32_t epoch;
    };

    struct Report {
        std::uint32_t token;
        Time injected;
        Time arrived;
    };

    Stream& at(StreamId id) { return streams_[static_cast<std::size_t>(id)]; }

    // flow.cpp
    int choose(const Transfer& transfer);
    StreamId open(const Transfer& transfer, int variant);
    int find_route(const Transfer& transfer, int variant);
    void fold_route(std::size_t from);
    void begin(Stream& stream);
    void join(StreamId id);
    void complete(StreamId id);
    void close(StreamId id);

    // flow_rates.cpp
    void schedule(StreamId id);
    [[nodiscard]] bool entered(const Stream& stream) const;
    void tidy();
    void solve();
    void solve_around(StreamId seed);
    [[nodiscard]] bool alone(const Stream& stream);
    [[nodiscard]] std::size_t exact() const {
        return fluid_.work() < options_.work ? options_.exact : std::min(options_.exact, options_.few);
    }
    bool set_rate(StreamId id, double rate);
    bool gather(StreamId seed);
    void meet(Resource& on);
    void share();
    void put_into_pool(StreamId id);
    [[nodiscard]] double spare(const Stream& stream);
    void close_pool();
    void solve_pool();
    void dissolve_pool();

    const Machine& machine_;
    const Topology& topology_;
    Listener& listener_;
    Options options_;
    Time now_ = 0;
    Time clear_ = 0;
    Loads loads_;
    MaxMinSolver fluid_;
    Pairs pairs_;
    std::vector<Stream> streams_;
    std::vector<StreamId> free_;
    Pool<Message> messages_;
    EventQueue<Event> agenda_;
    std::vector<Time> next_out_, next_in_, next_local_;  // of nodes, where there is a gap
    std::vector<StreamId> dirty_;                        // streams that joined and are not solved yet
    std::vector<std::int32_t> emptier_;                  // oversubscribed resources that somebody left
    std::uint32_t walk_ = 0;
    std::vector<StreamId> seeds_, component_;
    bool met_pool_ = false;  // the last walk
    ApproximateMaxMin pool_;
    Time pool_quantum_ = 0;   // when it ends
    Time pool_due_ = 0;       // when the pool is solved next: then, or when its first message ends
    bool open_pool_ = false;  // who shares with the pool may not be in it yet
    bool warm_pool_ = false;  // it has been solved before
    std::vector<Link> route_;
    std::vector<std::uint32_t> times_;  // that it has each; nothing: once
    std::vector<Report> reports_, reported_;
};

}  // namespace leadline::machine
