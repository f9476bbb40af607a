#include "machine/stages.hpp"

#include <algorithm>

namespace leadline::machine {

using collectives::Stage;

Stages::Stages(const Engine& engine, std::span<const std::int32_t> members)
    : engine_(engine), machine_(engine.machine()), members_(members) {}

std::set<std::string> Stages::run(const std::vector<Stage>& stages, std::vector<Time>& clocks) {
    const auto& [network, gate, seed, noise, protocol] = engine_.conditions();
    std::set<std::string> answered;
    free_.clear();
    for (const Stage& stage : stages) {
        if (network == "loggp" && !gate && by_itself(stage)) {
            step(stage, clocks);
            answered.insert(network);
            continue;
        }
        const std::vector<Time> before = clocks;
        std::string tier = network;
        if (step_through(tier, stage, clocks) > negligible && gate) {
            clocks = before;
            tier = tier_under_contention(machine_, stage.bytes);
            step_through(tier, stage, clocks);
        }
        answered.insert(tier);
    }
    return answered;
}

template <class Each>
void Stages::each_message(const Stage& stage, std::size_t ranks, Each each) const {
    switch (stage.pattern) {
        case Stage::Pattern::exchange:
            for (std::size_t r = 0; r < static_cast<std::size_t>(stage.ranks); ++r)
                each(r ^ static_cast<std::size_t>(stage.by), r);
            break;
        case Stage::Pattern::shift: {
            const auto by = static_cast<std::size_t>(stage.by);
            for (std::size_t r = 0; r < ranks; ++r) each(r >= by ? r - by : r + ranks - by, r);
            break;
        }
        case Stage::Pattern::listed:
            for (const auto& message : stage.messages)
                each(static_cast<std::size_t>(message.from), static_cast<std::size_t>(message.to));
            break;
    }
}

Time Stages::under_way(int from, int to, const Protocol& protocol, std::int64_t bytes) const {
    const Node& node = machine_.node;
    const std::int64_t wire = machine_.packets.wire(bytes + protocol.header);
    if (engine_.local(from, to)) {
        if (node.local_by_network) return node.local_latency + transfer_time(wire, node.local);
        return node.local_latency + (engine_.socket(from) == engine_.socket(to) ? 0 : node.socket_latency);
    }
    const double rate = std::min({node.injection, machine_.links.rate, node.reception});
    Time latency = machine_.links.base + transfer_time(wire, rate);
    if (machine_.links.hop > 0)
        latency +=
            machine_.links.hop * engine_.topology().hops(engine_.seat(from).node, engine_.seat(to).node);
    return latency;
}

// Whether the messages of a stage need no network for what `loggp` says of them: every one has its node's
// engines to itself, all take the same protocol, and the sender asks for nothing.
bool Stages::by_itself(const Stage& stage) const {
    return machine_.node.ranks == 1 && !engine_.tapered() && !protocol(stage).waits;
}

const Protocol& Stages::protocol(const Stage& stage) const {
    return engine_.protocol(rank_of(0), rank_of(members_.size() == 1 || engine_.ranks() == 1 ? 0 : 1),
                            stage.bytes);
}

Time Stages::receive_cost(const Stage& stage, const Protocol& way) const {
    return engine_.receive_cost(way, stage.bytes) +
           (stage.combines ? transfer_time(stage.bytes, machine_.reduce) : 0);
}

void Stages::step(const Stage& stage, std::vector<Time>& clocks) {
    const Protocol& way = protocol(stage);
    const Time send = engine_.send_cost(way, stage.bytes);
    const Time rest = engine_.send_rest(way, stage.bytes);
    const Time receive = receive_cost(stage, way);
    next_ = clocks;
    if (stage.pattern == Stage::Pattern::listed) {
        for (const auto& message : stage.messages)
            next_[static_cast<std::size_t>(message.from)] += send + rest;
    } else {
        const auto all =
            stage.pattern == Stage::Pattern::shift ? clocks.size() : static_cast<std::size_t>(stage.ranks);
        for (std::size_t r = 0; r < all; ++r) next_[r] += send + rest;
    }
    const Time lasts =
        transfer_time(machine_.packets.wire(stage.bytes + way.header),
                      std::min({machine_.node.injection, machine_.links.rate, machine_.node.reception}));
    if (lasts > send + rest || !free_.empty()) {
        // Longer on its way out than its core is busy with it: the next one waits for that.
        free_.resize(next_.size());
        each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
            const Time start = std::max(clocks[from] + send, free_[from]);
            free_[from] = start + lasts;
            const Time arrived = start + under_way(rank_of(from), rank_of(to), way, stage.bytes);
            next_[to] = std::max(next_[to], arrived) + receive;
        });
    } else if (members_.size() < 2 && machine_.links.hop == 0) {
        // Every message takes the same time: nothing to look up but the sender's clock.
        const Time takes = send + under_way(0, std::min(1, engine_.ranks() - 1), way, stage.bytes);
        each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
            next_[to] = std::max(next_[to], clocks[from] + takes) + receive;
        });
    } else {
        each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
            const Time takes = send + under_way(rank_of(from), rank_of(to), way, stage.bytes);
            next_[to] = std::max(next_[to], clocks[from] + takes) + receive;
        });
    }
    clocks.swap(next_);
}

double Stages::step_through(std::string_view tier, const Stage& stage, std::vector<Time>& clocks) {
    // A network goes forward in time only, and some ranks begin a stage before others have ended the last:
    // each stage has its own.
    const auto network = make_network(tier, machine_, engine_.topology(), *this, tier == "loggp");
    calls_.clear();
    agenda_ = {};
    next_ = clocks;
    free_.resize(next_.size());
    each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
        const Protocol& way = engine_.protocol(rank_of(from), rank_of(to), stage.bytes);
        Time& clock = next_[from];
        clock += way.handshake ? way.handshake_overhead : engine_.send_cost(way, stage.bytes);
        const Time free = way.handshake ? 0 : free_[from];
        agenda_.push(std::max(clock, free), static_cast<std::uint32_t>(calls_.size()));
        if (!way.handshake) clock += engine_.send_rest(way, stage.bytes);
        calls_.push_back({.way = &way,
                          .bytes = stage.bytes,
                          .there = clocks[to],
                          .from = static_cast<std::int32_t>(from),
                          .to = static_cast<std::int32_t>(to),
                          .leg = way.handshake ? Leg::request : Leg::data});
    });
    for (;;) {
        const Time ready = agenda_.next();
        const Time inner = network->next();
        if (ready == never && inner == never) break;
        if (ready <= inner) hand_over(*network, agenda_.pop());
        else network->advance();
    }
    finish(stage);
    clocks.swap(next_);
    return network->contention();
}

void Stages::hand_over(Network& network, std::uint32_t token) {
    const Call& call = calls_[token];
    int from = rank_of(static_cast<std::size_t>(call.from));
    int to = rank_of(static_cast<std::size_t>(call.to));
    if (call.leg == Leg::grant) std::swap(from, to);
    const std::int64_t bytes = call.leg == Leg::data ? call.bytes : 0;
    const Time now = agenda_.now();
    if (engine_.local(from, to) && !machine_.node.local_by_network) {
        injected(token, now);
        arrived(token, now + under_way(from, to, *call.way, bytes));
        return;
    }
    network.send(now, {.from = engine_.seat(from).node,
                       .to = engine_.seat(to).node,
                       .bytes = bytes + call.way->header,
                       .adaptive = call.way->adaptive,
                       .token = token});
}

void Stages::arrived(std::uint32_t token, Time when) {
    Call& call = calls_[token];
    switch (call.leg) {
        case Leg::request:
            call.leg = Leg::grant;
            agenda_.push(std::max(when, call.there) + call.way->handshake_overhead, token);
            break;
        case Leg::grant:
            call.leg = Leg::data;
            agenda_.push(when + engine_.send_cost(*call.way, call.bytes), token);
            break;
        case Leg::data: call.arrived = when; break;
    }
}

// A rank that waits for its own message to leave and for another's to come charges each when it is over, as
// one that says sendrecv does.
void Stages::finish(const Stage& stage) {
    left_.assign(next_.size(), 0);
    for (const Call& call : calls_) {
        free_[static_cast<std::size_t>(call.from)] = call.left;
        if (call.way->waits) left_[static_cast<std::size_t>(call.from)] = call.left;
    }
    for (const Call& call : calls_) {
        Time& clock = next_[static_cast<std::size_t>(call.to)];
        const Time left = left_[static_cast<std::size_t>(call.to)];
        if (left <= call.arrived) clock = std::max(clock, left);
        clock = std::max(clock, call.arrived) + receive_cost(stage, *call.way);
    }
    for (std::size_t r = 0; r < next_.size(); ++r) next_[r] = std::max(next_[r], left_[r]);
}

}  // namespace leadline::machine
