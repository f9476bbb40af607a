#include "machine/stages.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "machine/topologies/parts.hpp"

namespace leadline::machine {

using collectives::Stage;

std::optional<std::set<std::string>> Stages::run(std::span<const CommunicatorStages> parts) {
    // Messages of several stages meet there, or a rank copies what it brings.
    if (!machine_.cold.empty() || machine_.copies() || machine_.collective_overhead > 0 ||
        machine_.any_protocol([](const Protocol& each) { return each.one_way || each.crossing_latency > 0; }))
        return std::nullopt;
    const Time clear = engine_.network().clear();
    kept_.out = std::max(kept_.out, clear);
    kept_.in = std::max(kept_.in, clear);
    before_ = kept_;
    choose_tier(parts);
    const bool lists = std::ranges::any_of(parts, [](const CommunicatorStages& part) {
        return std::ranges::any_of(
            *part.stages, [](const Stage& stage) { return stage.pattern == Stage::Pattern::listed; });
    });
    // First by what is kept by anybody, which costs nothing; then by what each rank keeps.
    for (const bool each : {false, true}) {
        if (!each && (lists || parts.size() > 1)) continue;
        each_ = each;
        take(parts);
        if (each) know_each();
        if (pass_all(parts)) {
            if (!each_) {
                kept_.outs.clear();
                kept_.ins.clear();
            }
            give_back(parts);
            return answered_;
        }
        kept_ = before_;
        if (through_) break;
    }
    return std::nullopt;
}

bool Stages::pass_all(std::span<const CommunicatorStages> parts) {
    answered_.clear();
    std::vector<StageInstance> now;
    for (std::size_t k = 0;; ++k) {
        now.clear();
        std::size_t start = 0;
        for (const CommunicatorStages& part : parts) {
            if (k < part.stages->size()) now.push_back({&(*part.stages)[k], start, part.clocks->size()});
            start += part.clocks->size();
        }
        if (now.empty()) return true;
        if (!pass(now)) return false;
    }
}

void Stages::take(std::span<const CommunicatorStages> parts) {
    together_.clear();
    clocks_.clear();
    level_.reset();
    if (parts.size() == 1) {
        members_ = parts.front().members;
        const std::vector<Time>& given = *parts.front().clocks;
        ranks_ = given.size();
        const Time first = given.front();
        if (std::ranges::all_of(given, [first](Time each) { return each == first; })) level_ = first;
        else clocks_ = given;
        return;
    }
    for (const CommunicatorStages& part : parts) {
        together_.insert(together_.end(), part.members.begin(), part.members.end());
        clocks_.insert(clocks_.end(), part.clocks->begin(), part.clocks->end());
    }
    members_ = together_;
    ranks_ = clocks_.size();
}

// All clocks, where one stood for them.
void Stages::unlevel() {
    if (level_) clocks_.assign(ranks_, *level_);
    level_.reset();
}

void Stages::give_back(std::span<const CommunicatorStages> parts) {
    if (level_) {
        std::ranges::fill(*parts.front().clocks, *level_);
        return;
    }
    if (parts.size() == 1) {
        clocks_.swap(*parts.front().clocks);
        return;
    }
    auto from = clocks_.begin();
    for (const CommunicatorStages& part : parts) {
        const auto to = from + static_cast<std::ptrdiff_t>(part.clocks->size());
        std::copy(from, to, part.clocks->begin());
        from = to;
    }
}

// One stage of all.
bool Stages::pass(const std::vector<StageInstance>& all) {
    std::vector<StageInstance> sending;
    for (const StageInstance& reach : all) {
        if (reach.stage->pattern == Stage::Pattern::local) copy(reach);
        else sending.push_back(reach);
    }
    if (sending.empty()) return true;
    const Conditions& conditions = engine_.conditions();
    const bool alone = conditions.network == "loggp" && !conditions.track_contention;
    if ((alone || conditions.automatic) &&
        std::ranges::all_of(sending, [&](const StageInstance& reach) { return by_itself(reach); }) &&
        (!conditions.automatic || meet_nobody(sending))) {
        answered_.insert("loggp");
        return std::ranges::all_of(sending, [&](const StageInstance& reach) { return step(reach); });
    }
    unlevel();
    through_ = !step_through(sending);
    if (!through_) clocks_.swap(next_);
    return !through_;
}

void Stages::copy(const StageInstance& reach) {
    const Time lasts = engine_.copy_cost(reach.stage->bytes);
    if (level_) {  // of one communicator
        *level_ += lasts;
        return;
    }
    for (std::size_t r = reach.start; r < reach.start + reach.ranks; ++r) clocks_[r] += lasts;
}

// Whether the messages of a stage need no network for what `loggp` says of them: every one has its node's
// engines to itself, all take the same protocol, and the sender asks for nothing.
bool Stages::by_itself(const StageInstance& reach) const {
    const Protocol& way = protocol(reach);
    return machine_.node.ranks == 1 && !engine_.tapered() && !way.waits && !way.handshake;
}

// Whether messages that have their nodes' engines to themselves cannot wait for one another on links either,
// in any network. On a grid a message between nodes that differ in one coordinate stays on their line. Of
// those that pass one link each has come another number of hops, as every node sends one; so their heads are
// there at least a hop apart, but for what their starts differ by, and one that is through within that is not
// met.
bool Stages::meet_nobody(const std::vector<StageInstance>& all) const {
    const Topology& topology = engine_.topology();
    if (!topology.grid()) return false;
    Time first = never;
    Time last = 0;
    Time passes = 0;
    for (const StageInstance& reach : all) {
        const std::int64_t bytes = reach.stage->bytes;
        const Protocol& way = protocol(reach);
        const Time send = engine_.send_cost(way, bytes);
        passes =
            std::max(passes, transfer_time(machine_.packets.wire(bytes + way.header), machine_.links.rate));
        if (level_) {
            first = std::min(first, *level_ + send);
            last = std::max(last, *level_ + send);
            continue;
        }
        each_message(reach, [&](std::size_t from, std::size_t) {
            first = std::min(first, clocks_[from] + send);
            last = std::max(last, clocks_[from] + send);
        });
    }
    // Nothing of the stage before may be on a link any longer.
    if (first < std::max(kept_.out, kept_.in) || last - first + passes > machine_.links.hop) return false;
    struct Line {
        Divider step;  // from a node to the next on it
        Divider next;  // and to the next line of its axis
    };
    std::vector<Line> lines;
    int step = topology.nodes();
    for (const int length : topology.axes()) {
        const int next = std::exchange(step, step / length);
        lines.push_back({Divider(step), Divider(next)});
    }
    std::size_t axis = 0;  // of the message before, which is most often the next one's
    const auto on_line = [&](const Line& line, int from, int to) {
        const int a = line.step.quotient(from);
        const int b = line.step.quotient(to);
        return from - a * line.step.by() == to - b * line.step.by() &&
               line.next.quotient(from) == line.next.quotient(to);
    };
    return std::ranges::all_of(all, [&](const StageInstance& reach) {
        bool straight = true;
        const auto see = [&](std::size_t sender, std::size_t receiver) {
            const int from = engine_.placement(rank_of(sender)).node;
            const int to = engine_.placement(rank_of(receiver)).node;
            if (!straight || on_line(lines[axis], from, to)) return;
            axis = 0;
            while (axis < lines.size() && !on_line(lines[axis], from, to)) ++axis;
            straight = axis < lines.size();
            if (!straight) axis = 0;
        };
        if (alike(reach)) see(0, static_cast<std::size_t>(reach.stage->by));
        else each_message(reach, see);
        return straight;
    });
}

// Whether each rank of the world deals with the one whose number differs by one bit, and their nodes do too,
// wherever they are: then every message goes along the same axis, equally far.
bool Stages::alike(const StageInstance& reach) const {
    const Stage& stage = *reach.stage;
    return members_.empty() && exchanges_all(stage) && stage.first == 0 &&
           std::has_single_bit(static_cast<std::uint32_t>(stage.by)) && engine_.placed_by_bits();
}

bool Stages::exchanges_all(const Stage& stage) const {
    return stage.pattern == Stage::Pattern::exchange && stage.step == 1 &&
           std::cmp_equal(stage.ranks, ranks_);
}

const Protocol& Stages::protocol(const StageInstance& reach) const {
    return engine_.protocol(rank_of(reach.start), rank_of(reach.start + (reach.ranks > 1 ? 1 : 0)),
                            reach.stage->bytes);
}

// What each rank keeps, from what all keep where no more is known.
void Stages::know_each() {
    const auto ranks = static_cast<std::size_t>(engine_.ranks());
    if (kept_.outs.empty()) kept_.outs.assign(ranks, kept_.out);
    if (kept_.ins.empty()) kept_.ins.assign(ranks, kept_.in);
}

// Whether messages that begin then find everything free, whoever kept it.
bool Stages::begins_after(Time first_start) const {
    return first_start >= kept_.out && first_start + machine_.links.base + machine_.links.hop >= kept_.in;
}

struct Stages::Costs {
    const Protocol& way;
    Time send;      // of the sender, before a message is handed over
    Time busy;      // and with what follows
    Time receive;   // of the receiver, with combining where that begins when all is there
    Time lasts;     // the message, on its way
    Time uses;      // how long it keeps an engine or a port
    Time anywhere;  // under way, where that is the same everywhere
    bool same;
    bool streams;
};

// One stage in several ways, with the costs that they share.
// NOLINTNEXTLINE(readability-function-size)
bool Stages::step(const StageInstance& reach) {
    const Stage& stage = *reach.stage;
    const Protocol& way = protocol(reach);
    const Time send = engine_.send_cost(way, stage.bytes);
    const bool streams = stage.combines && machine_.reduce_streams;
    const Time lasts =
        transfer_time(machine_.packets.wire(stage.bytes + way.header),
                      std::min({machine_.node.injection, machine_.links.rate, machine_.node.reception}));
    const bool by_bit = alike(reach);
    const Costs costs{.way = way,
                      .send = send,
                      .busy = send + engine_.send_rest(way, stage.bytes),
                      .receive = engine_.receive_cost(way, stage.bytes) +
                                 (stage.combines && !streams ? engine_.combine_cost(stage.bytes) : 0),
                      .lasts = lasts,
                      .uses = std::max(lasts, machine_.node.message_gap),
                      .anywhere = engine_.under_way(0, by_bit ? stage.by : std::min(1, engine_.ranks() - 1),
                                                    way, stage.bytes),
                      .same = by_bit || (members_.size() < 2 && machine_.links.hop == 0),
                      .streams = streams};
    const auto under_way = [&](std::size_t from, std::size_t to) {
        return costs.same ? costs.anywhere : engine_.under_way(rank_of(from), rank_of(to), way, stage.bytes);
    };
    const auto take_up = [&](const Passed& passed) {
        Time& clock = stage.pattern == Stage::Pattern::listed ? clocks_[passed.to] : next_[passed.to];
        const Time free = clock;
        clock = std::max(free, passed.arrived) + costs.receive;
        if (streams)
            clock = engine_.combined(rank_of(passed.from), rank_of(passed.to), stage.bytes, passed.start,
                                     free, clock);
    };
    if (level_ && !each_ && costs.same && !streams &&
        (exchanges_all(stage) || (stage.pattern == Stage::Pattern::shift && !stage.along)))
        return step_level(costs);
    unlevel();
    if (!each_) {
        if (costs.same && !streams && stage.pattern == Stage::Pattern::exchange && stage.first == 0 &&
            stage.step == 1)
            return step_exchange(reach, costs);
        const auto here = std::span(clocks_).subspan(reach.start, reach.ranks);
        const auto [least, most] = std::ranges::minmax(here);
        if (!begins_after(least + send)) return false;
        kept_.out = most + send + costs.uses;
        next_ = clocks_;
        Time last = 0;
        each_message(reach, [&](std::size_t from, std::size_t) { next_[from] += costs.busy; });
        each_message(reach, [&](std::size_t from, std::size_t to) {
            const Time start = clocks_[from] + send;
            const Time arrived = start + under_way(from, to);
            last = std::max(last, arrived);
            take_up({from, to, start, arrived});
        });
        kept_.in = last - lasts + costs.uses;
        clocks_.swap(next_);
        return true;
    }
    // Maybe few of many ranks: nobody else's clock is looked at.
    const bool listed = stage.pattern == Stage::Pattern::listed;
    passed_.clear();
    bool free = true;
    if (!listed) next_ = clocks_;
    each_message(reach, [&](std::size_t from, std::size_t to) {
        const Time start = clocks_[from] + send;
        const Time arrived = start + under_way(from, to);
        Time& out = kept_.outs[static_cast<std::size_t>(rank_of(from))];
        Time& in = kept_.ins[static_cast<std::size_t>(rank_of(to))];
        free = free && start >= out && arrived - lasts >= in;
        out = start + costs.uses;
        in = arrived - lasts + costs.uses;
        kept_.out = std::max(kept_.out, out);
        kept_.in = std::max(kept_.in, in);
        passed_.push_back({from, to, start, arrived});
    });
    if (!free) return false;
    for (const Passed& each : passed_) (listed ? clocks_ : next_)[each.from] += costs.busy;
    for (const Passed& each : passed_) take_up(each);
    if (!listed) clocks_.swap(next_);
    return true;
}

// Every rank sends and receives a message, and all have come at one moment: they leave at one.
bool Stages::step_level(const Costs& costs) {
    const Time start = *level_ + costs.send;
    const Time arrived = start + costs.anywhere;
    if (!begins_after(start)) return false;
    level_ = std::max(*level_ + costs.busy, arrived) + costs.receive;
    kept_.out = start + costs.uses;
    kept_.in = arrived - costs.lasts + costs.uses;
    return true;
}

// What most ranks of the largest machines do, in a loop without a question.
bool Stages::step_exchange(const StageInstance& reach, const Costs& costs) {
    const auto by = static_cast<std::size_t>(reach.stage->by);
    const auto ranks = static_cast<std::size_t>(reach.stage->ranks);
    next_.resize(clocks_.size());
    const Time* before = clocks_.data() + reach.start;
    Time* after = next_.data() + reach.start;
    const Time takes = costs.send + costs.anywhere;
    Time least = never;
    Time most = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        least = std::min(least, before[r]);
        most = std::max(most, before[r]);
        after[r] = std::max(before[r] + costs.busy, before[r ^ by] + takes) + costs.receive;
    }
    if (!begins_after(least + costs.send)) return false;
    std::copy(before + ranks, before + reach.ranks, after + ranks);
    kept_.out = most + costs.send + costs.uses;
    kept_.in = most + costs.send + costs.anywhere - costs.lasts + costs.uses;
    clocks_.swap(next_);
    return true;
}

}  // namespace leadline::machine
