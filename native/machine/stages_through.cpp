// Stages whose messages share a network.
#include <algorithm>
#include <utility>

#include "machine/stages.hpp"

namespace leadline::machine {

// By the mean of all messages of the collective: a tier for each stage would play a whole collective packet
// by packet for a first stage of few bytes.
void Stages::choose_tier(std::span<const CommunicatorStages> parts) {
    std::int64_t bytes = 0;
    std::int64_t messages = 0;
    for (const CommunicatorStages& part : parts)
        for (const collectives::Stage& stage : *part.stages) {
            const auto sent = collectives::messages(stage, static_cast<std::int32_t>(part.clocks->size()));
            messages += sent;
            bytes += sent * stage.bytes;
        }
    contended_tier_ = tier_under_contention(machine_, engine_.topology(),
                                            bytes / std::max<std::int64_t>(messages, 1), messages);
}

// False where the stage may not begin in an empty network.
bool Stages::step_through(const std::vector<StageInstance>& all) {
    const Conditions& conditions = engine_.conditions();
    // Requests that are granted before their receiver comes are no matter of a stage.
    if (machine_.node.rendezvous_credits > 0 && std::ranges::any_of(all, [&](const StageInstance& reach) {
            return machine_.protocol(reach.stage->bytes, Reach::nodes).handshake;
        }))
        return false;
    // Packets that come to a link at one instant pass it in the order in which they were sent to it, which a
    // stage by itself does not know: it only tells of packets that meet no others.
    const bool packets = conditions.network == "packet";
    std::string tier = conditions.automatic || packets ? "loggp" : conditions.network;
    const double late = attempt(tier, all);
    if (conditions.automatic && late > negligible) {
        tier = contended_tier_;
        if (tier == "packet") return false;
        static_cast<void>(attempt(tier, all));
    } else if (packets && !conditions.automatic) {
        if (waited_ || std::ranges::any_of(machine_.protocols, &Protocol::adaptive)) return false;
        tier = conditions.network;
    }
    if (first_ < std::max(kept_.out, kept_.in)) return false;
    if (first_ != never) answered_.insert(tier);
    kept_.out = kept_.in = std::max({kept_.out, kept_.in, clear_});
    if (each_) {
        std::ranges::fill(kept_.outs, kept_.out);
        std::ranges::fill(kept_.ins, kept_.in);
    }
    return true;
}

// Moves the clocks, into next_, over a stage through an empty network. The largest part by which a message
// waited for others, where the tier keeps books of it.
double Stages::attempt(std::string_view tier, const std::vector<StageInstance>& all) {
    calls_.clear();
    next_ = clocks_;
    for (const StageInstance& reach : all)
        each_message(reach, [&](std::size_t from, std::size_t to) {
            call(from, to, reach.stage->bytes, reach.stage->combines);
        });
    first_ = never;
    for (const StageMessage& each : calls_) first_ = std::min(first_, each.ready);
    // Too early for an empty network, which step_through() says.
    if (first_ < std::max(kept_.out, kept_.in)) return 0;
    travel_together();
    for (std::uint32_t token = 0; token < calls_.size(); ++token)
        if (!calls_[token].rides) agenda_.push(calls_[token].ready, token);
    const double late = exchange(tier);
    finish();
    return late;
}

// A rank says what it has for another one.
void Stages::call(std::size_t from, std::size_t to, std::int64_t bytes, bool combines) {
    const Protocol& way = engine_.protocol(rank_of(from), rank_of(to), bytes);
    Time& clock = next_[from];
    clock += way.handshake ? way.handshake_overhead : engine_.send_cost(way, bytes);
    calls_.push_back({.way = &way,
                      .bytes = bytes,
                      .wire = bytes + way.header,
                      .there = clocks_[to],
                      .ready = clock,
                      .from = static_cast<std::int32_t>(from),
                      .to = static_cast<std::int32_t>(to),
                      .leg = way.handshake ? Leg::request : Leg::data,
                      .combines = combines});
    if (!way.handshake) clock += engine_.send_rest(way, bytes);
}

double Stages::exchange(std::string_view tier) {
    const auto network = make_network(tier, machine_, engine_.topology(), *this, tier == "loggp");
    const bool gate = tier == "loggp" && engine_.conditions().automatic;
    // A gate has seen enough at the first message that waits.
    while (!gate || network->contention() <= negligible) {
        const Time ready = agenda_.next();
        const Time inner = network->next();
        if (ready == never && inner == never) break;
        if (ready <= inner) hand_over(*network, agenda_.pop());
        else network->advance();
    }
    agenda_ = {};
    clear_ = network->clear();
    waited_ = network->waited();
    return network->contention();
}

void Stages::hand_over(Network& network, std::uint32_t token) {
    StageMessage& call = calls_[token];
    auto from = call.from;
    auto to = call.to;
    if (call.leg == Leg::grant) std::swap(from, to);
    const Time now = agenda_.now();
    if (call.leg == Leg::data) call.ready = now;
    const int here = rank_of(static_cast<std::size_t>(from));
    const int there = rank_of(static_cast<std::size_t>(to));
    const bool memory = engine_.local(here, there) && !machine_.node.local_by_network;
    if (memory || (call.leg != Leg::data && machine_.node.control_first)) {
        injected(token, now);
        arrived(token,
                now + engine_.under_way(here, there, *call.way, call.leg == Leg::data ? call.bytes : 0));
        return;
    }
    network.send(now, {.from = node_of(from),
                       .to = node_of(to),
                       .bytes = call.leg == Leg::data ? call.wire : call.way->header,
                       .adaptive = call.way->adaptive,
                       .token = token});
}

void Stages::injected(std::uint32_t token, Time when) {
    for (std::uint32_t each = token; each != none; each = calls_[each].with) calls_[each].left = when;
}

void Stages::arrived(std::uint32_t token, Time when) {
    StageMessage& call = calls_[token];
    switch (call.leg) {
        case Leg::request:
            // The receiver grants what was asked for, once it is there.
            call.leg = Leg::grant;
            agenda_.push(std::max({when, call.there, agenda_.now()}) + call.way->handshake_overhead, token);
            break;
        case Leg::grant:
            call.leg = Leg::data;
            agenda_.push(when + engine_.send_cost(*call.way, call.bytes), token);
            break;
        case Leg::data:
            for (std::uint32_t each = token; each != none; each = calls_[each].with)
                calls_[each].arrived = when;
            break;
    }
}

// A rank that waits for its own message to leave and for another's to come charges each when it is over, as
// one that says sendrecv does, and combines when both are.
void Stages::finish() {
    left_.assign(next_.size(), 0);
    for (const StageMessage& call : calls_)
        if (call.way->waits) left_[static_cast<std::size_t>(call.from)] = call.left;
    for (const StageMessage& call : calls_) {
        Time& clock = next_[static_cast<std::size_t>(call.to)];
        const Time left = std::exchange(left_[static_cast<std::size_t>(call.to)], 0);
        const Time free = clock;
        if (left <= call.arrived) clock = std::max(clock, left);
        clock = std::max(clock, call.arrived) + engine_.receive_cost(*call.way, call.bytes);
        clock = std::max(clock, left);
        if (!call.combines) continue;
        const int from = rank_of(static_cast<std::size_t>(call.from));
        const int to = rank_of(static_cast<std::size_t>(call.to));
        clock = engine_.combined(from, to, call.bytes, call.ready, free, clock);
    }
    for (std::size_t r = 0; r < next_.size(); ++r) next_[r] = std::max(next_[r], left_[r]);
}

// Short messages that ranks of one node have for one other node travel as one. The first of them waits, the
// less the more of its node's ranks have come with theirs.
void Stages::travel_together() {
    const Coalescing& rule = machine_.coalesce;
    if (rule.up_to == 0 || machine_.node.ranks < 2) return;
    order_.clear();
    for (std::uint32_t token = 0; token < calls_.size(); ++token) {
        const StageMessage& call = calls_[token];
        if (call.bytes <= rule.up_to && call.leg == Leg::data && node_of(call.from) != node_of(call.to) &&
            engine_.ranks_on_node(rank_of(static_cast<std::size_t>(call.from))) > 1)
            order_.push_back(token);
    }
    const auto way = [&](std::uint32_t token) {
        return static_cast<std::uint64_t>(node_of(calls_[token].from)) << 32U |
               static_cast<std::uint32_t>(node_of(calls_[token].to));
    };
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
        const auto left = way(a);
        const auto right = way(b);
        return left != right ? left < right : std::pair(calls_[a].ready, a) < std::pair(calls_[b].ready, b);
    });
    for (std::size_t from = 0, to = 0; from < order_.size(); from = to) {
        StageMessage& first = calls_[order_[from]];
        const int ranks = engine_.ranks_on_node(rank_of(static_cast<std::size_t>(first.from)));
        std::uint32_t last = order_[from];
        int come = 0;
        // The wait that is left once so many have come.
        const auto until = [&] { return first.ready + rule.wait * (ranks - come) / (ranks - 1); };
        const Time began = first.ready;
        for (to = from; to < order_.size() && way(order_[to]) == way(order_[from]); ++to) {
            StageMessage& next = calls_[order_[to]];
            if (come > 0 && next.ready > until()) break;
            if (come++ == 0) continue;
            first.wire += next.wire;
            next.rides = true;
            calls_[last].with = order_[to];
            last = order_[to];
        }
        first.ready =
            std::max(calls_[last].ready, began + rule.wait * (ranks - std::min(come, ranks)) / (ranks - 1));
    }
}

}  // namespace leadline::machine
