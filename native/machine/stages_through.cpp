// Stages whose messages share a network.
#include <algorithm>
#include <utility>

#include "machine/stages.hpp"

namespace leadline::machine {

double Stages::step_through(std::string_view tier, const std::vector<Reach>& all) {
    calls_.clear();
    next_ = clocks_;
    free_.resize(next_.size());
    for (const Reach& reach : all)
        each_message(reach, [&](std::size_t from, std::size_t to) {
            call(from, to, reach.stage->bytes, reach.stage->combines);
        });
    travel_together();
    for (std::uint32_t token = 0; token < calls_.size(); ++token)
        if (!calls_[token].rides) agenda_.push(calls_[token].ready, token);
    const double late = exchange(tier);
    finish();
    return late;
}

// A rank says what it has for another one, once its last message has left.
void Stages::call(std::size_t from, std::size_t to, std::int64_t bytes, bool combines) {
    const Protocol& way = engine_.protocol(rank_of(from), rank_of(to), bytes);
    Call made{.way = &way,
              .bytes = bytes,
              .wire = bytes + way.header,
              .there = clocks_[to],
              .from = static_cast<std::int32_t>(from),
              .to = static_cast<std::int32_t>(to),
              .leg = way.handshake ? Leg::request : Leg::data,
              .combines = combines};
    Time& clock = next_[from];
    clock += start_cost(made);
    made.ready = way.handshake ? clock : std::max(clock, free_[from]);
    if (!way.handshake) clock += engine_.send_rest(way, bytes);
    calls_.push_back(made);
}

Time Stages::start_cost(const Call& call) const {
    return call.way->handshake ? call.way->handshake_overhead : engine_.send_cost(*call.way, call.bytes);
}

double Stages::exchange(std::string_view tier) {
    // A network goes forward in time only, and some ranks begin a stage before others have ended the last:
    // each stage has its own.
    const auto network = make_network(tier, machine_, engine_.topology(), *this, tier == "loggp");
    for (;;) {
        const Time ready = agenda_.next();
        const Time inner = network->next();
        if (ready == never && inner == never) break;
        if (ready <= inner) hand_over(*network, agenda_.pop());
        else network->advance();
    }
    agenda_ = {};
    return network->contention();
}

void Stages::hand_over(Network& network, std::uint32_t token) {
    Call& call = calls_[token];
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
    const bool data = calls_[token].leg == Leg::data;
    for (std::uint32_t each = token; each != none; each = calls_[each].with) calls_[each].left = when;
    if (turn_ != Turn::sends || !data || token + 1 >= calls_.size()) return;
    // The root's next send begins: this one has left, or was handed over at least.
    const Time free = calls_[token].way->waits
                          ? when
                          : calls_[token].ready + engine_.send_rest(*calls_[token].way, calls_[token].bytes);
    Call& next = calls_[token + 1];
    next.ready = std::max(free, agenda_.now()) + start_cost(next);
    agenda_.push(next.ready, token + 1);
}

void Stages::arrived(std::uint32_t token, Time when) {
    Call& call = calls_[token];
    switch (call.leg) {
        case Leg::request:
            call.leg = Leg::grant;
            call.arrived = when;
            if (turn_ != Turn::receives || token < window() || calls_[token - window()].taken) begin(token);
            break;
        case Leg::grant:
            call.leg = Leg::data;
            agenda_.push(when + engine_.send_cost(*call.way, call.bytes), token);
            break;
        case Leg::data:
            for (std::uint32_t each = token; each != none; each = calls_[each].with)
                calls_[each].arrived = when;
            if (turn_ != Turn::receives) break;
            call.taken = true;
            // The root turns to the next one, which may have asked already.
            if (const auto next = token + static_cast<std::uint32_t>(window()); next < calls_.size()) {
                calls_[next].there =
                    std::max(calls_[next].there, when + engine_.receive_cost(*call.way, call.bytes));
                if (calls_[next].leg == Leg::grant && calls_[next].arrived > 0) begin(next);
            }
            break;
    }
}

// The receiver grants what was asked for.
void Stages::begin(std::uint32_t token) {
    const Call& call = calls_[token];
    agenda_.push(std::max({call.arrived, call.there, agenda_.now()}) + call.way->handshake_overhead, token);
}

// A rank that waits for its own message to leave and for another's to come charges each when it is over, as
// one that says sendrecv does.
void Stages::finish() {
    left_.assign(next_.size(), 0);
    for (const Call& call : calls_) {
        free_[static_cast<std::size_t>(call.from)] = call.left;
        if (call.way->waits) left_[static_cast<std::size_t>(call.from)] = call.left;
    }
    for (const Call& call : calls_) {
        Time& clock = next_[static_cast<std::size_t>(call.to)];
        const Time left = left_[static_cast<std::size_t>(call.to)];
        if (left <= call.arrived) clock = std::max(clock, left);
        clock = taken(call, clock);
    }
    for (std::size_t r = 0; r < next_.size(); ++r) next_[r] = std::max(next_[r], left_[r]);
}

// Short messages that ranks of one node have for one other node travel as one. The first of them waits, the
// less the more of its node's ranks have come with theirs.
void Stages::travel_together() {
    const Coalescing& rule = machine_.coalesce;
    const int ranks = machine_.node.ranks;
    if (rule.up_to == 0 || ranks < 2) return;
    order_.clear();
    for (std::uint32_t token = 0; token < calls_.size(); ++token) {
        const Call& call = calls_[token];
        if (call.bytes <= rule.up_to && call.leg == Leg::data && node_of(call.from) != node_of(call.to))
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
        Call& first = calls_[order_[from]];
        std::uint32_t last = order_[from];
        int come = 0;
        // The wait that is left once so many have come.
        const auto until = [&] { return first.ready + rule.wait * (ranks - come) / (ranks - 1); };
        const Time began = first.ready;
        for (to = from; to < order_.size() && way(order_[to]) == way(order_[from]); ++to) {
            Call& next = calls_[order_[to]];
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

// ---------------------------------------------------------------------------------------- in turn

std::set<std::string> Stages::scatter(const Part& part, std::int32_t root, std::span<const Block> blocks) {
    return in_turn(part, root, blocks, Turn::sends);
}

std::set<std::string> Stages::gather(const Part& part, std::int32_t root, std::span<const Block> blocks) {
    return in_turn(part, root, blocks, Turn::receives);
}

std::set<std::string> Stages::in_turn(const Part& part, std::int32_t root, std::span<const Block> blocks,
                                      Turn turn) {
    const auto& [network, gate, seed, noise, protocol] = engine_.conditions();
    take({&part, 1});
    const auto centre = static_cast<std::size_t>(root);
    std::int64_t largest = 0;
    const auto all = [&](std::string_view tier) {
        calls_.clear();
        turn_ = turn;
        next_ = clocks_;
        free_.assign(next_.size(), 0);
        for (const Block& block : blocks) {
            if (block.rank == root || block.bytes == 0) continue;
            const auto rank = static_cast<std::size_t>(block.rank);
            if (turn == Turn::sends) call(centre, rank, block.bytes, false);
            else call(rank, centre, block.bytes, false);
            largest = std::max(largest, block.bytes);
        }
        if (calls_.empty()) return 0.0;
        const bool sends = turn == Turn::sends;
        if (sends) calls_.front().ready = clocks_[centre] + start_cost(calls_.front());
        for (std::uint32_t token = 0; token < (sends ? 1 : calls_.size()); ++token)
            agenda_.push(calls_[token].ready, token);
        const double late = exchange(tier);
        Time& own = next_[centre] = clocks_[centre];
        for (const Call& each : calls_) {
            if (!sends) {
                own = taken(each, own);
                if (each.way->waits) next_[static_cast<std::size_t>(each.from)] = each.left;
                continue;
            }
            own = std::max(
                own, each.way->waits ? each.left : each.ready + engine_.send_rest(*each.way, each.bytes));
            Time& clock = next_[static_cast<std::size_t>(each.to)];
            clock = taken(each, clock);
        }
        return late;
    };
    std::string tier = network;
    if (all(tier) > negligible && gate) {
        tier = tier_under_contention(machine_, largest);
        all(tier);
    }
    turn_ = Turn::none;
    clocks_.swap(next_);
    give_back({&part, 1});
    return {tier};
}

}  // namespace leadline::machine
