#include "machine/stages.hpp"

#include <algorithm>

namespace leadline::machine {

using collectives::Stage;

Stages::Stages(const Engine& engine, std::span<const std::int32_t> members)
    : engine_(engine), machine_(engine.machine()), members_(members) {}

std::set<std::string> Stages::run(const std::vector<Stage>& stages, std::vector<Time>& clocks) {
    if (machine_.node.ranks > 1) engines_.assign(static_cast<std::size_t>(engine_.topology().nodes()), 0);
    const auto& [network, gate, seed, noise, protocol] = engine_.conditions();
    std::set<std::string> answered;
    for (const Stage& stage : stages) {
        if (network == "loggp" && !gate) {
            step(stage, clocks);
            answered.insert(network);
            continue;
        }
        const std::vector<Time> before = clocks;
        std::string tier = network;
        if (step_through(tier, stage, clocks) > negligible) {
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

// When a message that is ready leaves its node, whose engine is then busy for a while.
Time Stages::leaves(int from, Time ready, Time busy) {
    if (engines_.empty()) return ready;
    Time& engine = engines_[static_cast<std::size_t>(engine_.seat(from).node)];
    const Time start = std::max(ready, engine);
    engine = start + busy;
    return start;
}

void Stages::step(const Stage& stage, std::vector<Time>& clocks) {
    const bool alike = members_.size() < 2 && machine_.links.hop == 0 && machine_.node.ranks == 1;
    const Protocol& protocol = machine_.protocol(stage.bytes, false);
    const Time send = engine_.send_cost(protocol, stage.bytes);
    const Time rest = engine_.send_rest(protocol, stage.bytes);
    const Time receive = engine_.receive_cost(protocol, stage.bytes) +
                         (stage.combines ? transfer_time(stage.bytes, machine_.reduce) : 0);
    const Time busy =
        std::max(transfer_time(machine_.packets.wire(stage.bytes + protocol.header), machine_.node.injection),
                 machine_.node.message_gap);
    next_ = clocks;
    if (stage.pattern == Stage::Pattern::listed) {
        for (const auto& message : stage.messages)
            next_[static_cast<std::size_t>(message.from)] += send + rest;
    } else {
        const auto all =
            stage.pattern == Stage::Pattern::shift ? clocks.size() : static_cast<std::size_t>(stage.ranks);
        for (std::size_t r = 0; r < all; ++r) next_[r] += send + rest;
    }
    if (alike && !protocol.handshake) {
        // Every message takes the same time: nothing to look up but the sender's clock.
        const Time way = send + under_way(0, std::min(1, engine_.ranks() - 1), protocol, stage.bytes);
        each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
            next_[to] = std::max(next_[to], clocks[from] + way) + receive;
        });
    } else {
        each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
            const int source = rank_of(from);
            const int target = rank_of(to);
            const Protocol& way = engine_.protocol(source, target, stage.bytes);
            const Time cost = engine_.send_cost(way, stage.bytes);
            Time ready = clocks[from] + cost;
            if (way.handshake) {
                const Time ask = clocks[from] + way.handshake_overhead + under_way(source, target, way, 0);
                ready = std::max(ask, clocks[to]) + way.handshake_overhead +
                        under_way(target, source, way, 0) + cost;
            }
            const Time left = leaves(source, ready, busy);
            next_[to] = std::max(next_[to], left + under_way(source, target, way, stage.bytes)) + receive;
        });
    }
    clocks.swap(next_);
}

double Stages::step_through(std::string_view tier, const Stage& stage, std::vector<Time>& clocks) {
    // A network goes forward in time only, and some ranks begin a stage before others have ended the last:
    // each stage has its own.
    const auto made = make_network(tier, machine_, engine_.topology(), *this, tier == "loggp");
    Network& network = *made;
    struct Hand {
        Time when;
        std::size_t from, to;
    };
    std::vector<Hand> hands;
    next_ = clocks;
    each_message(stage, clocks.size(), [&](std::size_t from, std::size_t to) {
        const Protocol& way = engine_.protocol(rank_of(from), rank_of(to), stage.bytes);
        const Time ready = clocks[from] + engine_.send_cost(way, stage.bytes);
        hands.push_back({ready, from, to});
        next_[from] = std::max(next_[from], ready + engine_.send_rest(way, stage.bytes));
    });
    std::ranges::stable_sort(hands, {}, &Hand::when);
    arrivals_.assign(hands.size(), 0);
    for (std::size_t i = 0; i < hands.size(); ++i) {
        const int source = rank_of(hands[i].from);
        const int target = rank_of(hands[i].to);
        const Protocol& way = engine_.protocol(source, target, stage.bytes);
        while (network.next() < hands[i].when) network.advance();
        if (engine_.local(source, target) && !machine_.node.local_by_network)
            arrivals_[i] = hands[i].when + under_way(source, target, way, stage.bytes);
        else
            network.send(hands[i].when, {.from = engine_.seat(source).node,
                                         .to = engine_.seat(target).node,
                                         .bytes = stage.bytes + way.header,
                                         .adaptive = way.adaptive,
                                         .token = static_cast<std::uint32_t>(i)});
    }
    while (network.next() != never) network.advance();
    for (std::size_t i = 0; i < hands.size(); ++i) {
        const Protocol& way = engine_.protocol(rank_of(hands[i].from), rank_of(hands[i].to), stage.bytes);
        next_[hands[i].to] = std::max(next_[hands[i].to], arrivals_[i]) +
                             engine_.receive_cost(way, stage.bytes) +
                             (stage.combines ? transfer_time(stage.bytes, machine_.reduce) : 0);
    }
    clocks.swap(next_);
    return network.contention();
}

}  // namespace leadline::machine
