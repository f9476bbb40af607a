#include "machine/stages.hpp"

#include <algorithm>
#include <utility>

namespace leadline::machine {

using collectives::Stage;

std::set<std::string> Stages::run(std::span<const Part> parts) {
    std::set<std::string> answered;
    std::vector<std::size_t> ranks;
    for (const Part& part : parts) ranks.push_back(part.clocks->size());
    take(parts);
    std::vector<Reach> now;
    for (std::size_t k = 0;; ++k) {
        now.clear();
        std::size_t start = 0;
        for (std::size_t i = 0; i < parts.size(); start += ranks[i++])
            if (k < parts[i].stages.size()) now.push_back({&parts[i].stages[k], start, ranks[i]});
        if (now.empty()) break;
        if (const std::string tier = pass(now); !tier.empty()) answered.insert(tier);
    }
    give_back(parts);
    return answered;
}

bool Stages::alone(const Engine& engine, std::int64_t bytes) {
    const Machine& machine = engine.machine();
    const auto& conditions = engine.conditions();
    return conditions.network == "loggp" && !conditions.gate && machine.node.ranks == 1 &&
           !engine.tapered() && !machine.protocol(bytes, false).waits;
}

void Stages::take(std::span<const Part> parts) {
    free_.clear();
    if (parts.size() == 1) {
        members_ = parts.front().members;
        clocks_.swap(*parts.front().clocks);
        return;
    }
    for (const Part& part : parts) {
        together_.insert(together_.end(), part.members.begin(), part.members.end());
        clocks_.insert(clocks_.end(), part.clocks->begin(), part.clocks->end());
    }
    members_ = together_;
}

void Stages::give_back(std::span<const Part> parts) {
    if (parts.size() == 1) {
        clocks_.swap(*parts.front().clocks);
        return;
    }
    auto from = clocks_.begin();
    for (const Part& part : parts) {
        const auto to = from + static_cast<std::ptrdiff_t>(part.clocks->size());
        std::copy(from, to, part.clocks->begin());
        from = to;
    }
}

// One stage of all; the tier that answered, none where nothing was sent.
std::string Stages::pass(const std::vector<Reach>& all) {
    const auto& [network, gate, seed, noise, protocol] = engine_.conditions();
    std::vector<Reach> sending;
    std::int64_t largest = 0;
    for (const Reach& reach : all) {
        if (reach.stage->pattern == Stage::Pattern::local) {
            copy(reach);
        } else {
            sending.push_back(reach);
            largest = std::max(largest, reach.stage->bytes);
        }
    }
    if (sending.empty()) return {};
    if (network == "loggp" && !gate &&
        std::ranges::all_of(sending, [&](const Reach& reach) { return by_itself(reach); })) {
        for (const Reach& reach : sending) step(reach);
        return network;
    }
    std::string tier = network;
    const std::vector<Time> free = free_;
    if (step_through(tier, sending) > negligible && gate) {
        free_ = free;
        tier = tier_under_contention(machine_, largest);
        step_through(tier, sending);
    }
    clocks_.swap(next_);
    return tier;
}

void Stages::copy(const Reach& reach) {
    // Every byte is read and written.
    const Time lasts = transfer_time(2 * reach.stage->bytes, machine_.node.memory / machine_.node.ranks);
    for (std::size_t r = reach.start; r < reach.start + reach.ranks; ++r) clocks_[r] += lasts;
}

// Whether the messages of a stage need no network for what `loggp` says of them: every one has its node's
// engines to itself, all take the same protocol, and the sender asks for nothing.
bool Stages::by_itself(const Reach& reach) const {
    return machine_.node.ranks == 1 && !engine_.tapered() && !protocol(reach).waits;
}

const Protocol& Stages::protocol(const Reach& reach) const {
    return engine_.protocol(rank_of(reach.start), rank_of(reach.start + (reach.ranks > 1 ? 1 : 0)),
                            reach.stage->bytes);
}

Time Stages::taken(const Call& call, Time free) const {
    const Time receive = engine_.receive_cost(*call.way, call.bytes);
    const Time whole = std::max(free, call.arrived) + receive;
    if (!call.combines) return whole;
    const Time combining = transfer_time(call.bytes, machine_.reduce);
    if (!machine_.reduce_streams) return whole + combining;
    // Packet by packet as they come: it is behind by the last one, or by all if it is slower than they are.
    const std::int64_t packet = std::min(call.bytes, machine_.packets.payload);
    const Time first =
        call.ready + engine_.under_way(rank_of(static_cast<std::size_t>(call.from)),
                                       rank_of(static_cast<std::size_t>(call.to)), *call.way, packet);
    return std::max(whole + transfer_time(packet, machine_.reduce),
                    std::max(free, first) + receive + combining);
}

// NOLINTNEXTLINE(readability-function-size): one loop for each way of knowing what a message takes
void Stages::step(const Reach& reach) {
    const Stage& stage = *reach.stage;
    const Protocol& way = protocol(reach);
    const Time send = engine_.send_cost(way, stage.bytes);
    const Time busy = send + engine_.send_rest(way, stage.bytes);
    Call sample{.way = &way,
                .bytes = stage.bytes,
                .wire = 0,
                .there = 0,
                .from = 0,
                .to = 0,
                .leg = Leg::data,
                .combines = stage.combines};
    const Time lasts =
        transfer_time(machine_.packets.wire(stage.bytes + way.header),
                      std::min({machine_.node.injection, machine_.links.rate, machine_.node.reception}));
    // Longer on its way out than its core is busy with it: the next one waits for that.
    const bool queues = lasts > busy || !free_.empty();
    if (queues) free_.resize(clocks_.size());
    // Where every message takes the same time there is nothing to look up but the sender's clock.
    const bool same = members_.size() < 2 && machine_.links.hop == 0;
    const Time anywhere = engine_.under_way(0, std::min(1, engine_.ranks() - 1), way, stage.bytes);
    const Time receive = engine_.receive_cost(way, stage.bytes) +
                         (stage.combines ? transfer_time(stage.bytes, machine_.reduce) : 0);
    const bool streams = stage.combines && machine_.reduce_streams;
    const auto pass = [&](std::size_t from, std::size_t to, Time begin) {
        Time start = begin + send;
        if (queues) {
            start = std::max(start, free_[from]);
            free_[from] = start + lasts;
        }
        return start + (same ? anywhere : engine_.under_way(rank_of(from), rank_of(to), way, stage.bytes));
    };
    const auto take_up = [&](std::size_t from, std::size_t to, Time arrived, Time free) {
        if (!streams) return std::max(free, arrived) + receive;
        sample.from = static_cast<std::int32_t>(from);
        sample.to = static_cast<std::int32_t>(to);
        sample.arrived = arrived;
        sample.ready = arrived - engine_.under_way(rank_of(from), rank_of(to), way, stage.bytes);
        return taken(sample, free);
    };
    if (stage.pattern == Stage::Pattern::listed) {
        // Maybe few of many ranks: nobody else's clock is looked at.
        passed_.clear();
        each_message(reach, [&](std::size_t from, std::size_t to) {
            passed_.push_back({from, to, pass(from, to, clocks_[from])});
            clocks_[from] += busy;
        });
        for (const auto& [from, to, arrived] : passed_) clocks_[to] = take_up(from, to, arrived, clocks_[to]);
        return;
    }
    next_ = clocks_;
    if (same && !queues && !streams && stage.pattern == Stage::Pattern::exchange && stage.first == 0 &&
        stage.step == 1) {
        // What most ranks of the largest machines do, in a loop without a question.
        const auto by = static_cast<std::size_t>(stage.by);
        const Time* before = clocks_.data() + reach.start;
        Time* after = next_.data() + reach.start;
        const Time takes = send + anywhere;
        for (std::size_t r = 0; r < static_cast<std::size_t>(stage.ranks); ++r)
            after[r] = std::max(before[r] + busy, before[r ^ by] + takes) + receive;
        clocks_.swap(next_);
        return;
    }
    each_message(reach, [&](std::size_t from, std::size_t) { next_[from] += busy; });
    each_message(reach, [&](std::size_t from, std::size_t to) {
        next_[to] = take_up(from, to, pass(from, to, clocks_[from]), next_[to]);
    });
    clocks_.swap(next_);
}

}  // namespace leadline::machine
