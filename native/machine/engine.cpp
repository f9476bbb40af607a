#include "machine/engine.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace leadline::machine {

Engine::Engine(const Machine& machine, const Topology& topology, std::vector<Placement> placements,
               Conditions conditions)
    : machine_(machine),
      topology_(topology),
      placements_(std::move(placements)),
      conditions_(std::move(conditions)),
      players_(conditions_.symmetry ? conditions_.symmetry->players() : ranks()),
      ranks_(static_cast<std::size_t>(players_)),
      posted_(MatchQueues::Of::receives, ranks_.size(), machine.node.match > 0),
      unexpected_(MatchQueues::Of::messages, ranks_.size(), machine.node.match > 0),
      packet_time_(machine_.packets.payload == std::numeric_limits<std::int64_t>::max()
                       ? 0
                       : transfer_time(machine_.packets.largest(), machine_.links.rate)),
      forced_(conditions_.protocol != "default"),
      tapered_(!topology_.uniform()),
      // MPI matches messages of one rank to another in the order of sending. A network keeps it where all of
      // them go one way at one rate; not where some choose their way by load, or a long one is slowed down
      // half-way, not where requests pass what waits, and not where a packet of a message is told of once an
      // idle network would have brought it.
      overtaking_(
          !machine_.node.loggops &&
          (tapered_ || machine_.node.control_first || conditions_.network == "packet" ||
           (conditions_.network != "loggp" && std::ranges::any_of(machine_.protocols, &Protocol::adaptive)))),
      network_(make_network(conditions_.network, machine_,
                            conditions_.symmetry ? conditions_.symmetry->quotient() : topology_, *this,
                            conditions_.track_contention)) {
    operations_.take();  // that is no_request
    if (machine.any_protocol([](const Protocol& each) { return each.crossing_latency > 0; }))
        crossings_.emplace();
    if (!machine_.cold.empty()) coldness_.emplace(machine_.cold, placements_.size());
    if (machine.node.ranks > machine.node.cores) share_cores();
    if (machine.node.rendezvous_credits > 0) credits_.resize(placements_.size());
    if (machine.node.loggops) cores_.resize(placements_.size());
    if (machine.node.contend > 0) collectives_.resize(placements_.size());
    if (!machine.node.progress) {
        deferred_.resize(placements_.size());
        computed_.resize(placements_.size());
    }
    if (conditions_.noise && machine_.noise.present) {
        detours_.resize(placements_.size());
        for (int rank = 0; rank < ranks(); ++rank) draw_detour(rank);
    }
}

// ---------------------------------------------------------------------------------------- a message's way

std::uint32_t Engine::new_message(int from, int to, std::int64_t bytes, Leg leg) {
    const std::uint32_t id = messages_.take();
    Message& message = messages_[id];
    message.bytes = bytes;
    message.from = from;
    message.to = to;
    message.leg = leg;
    message.early = false;
    message.crossed = false;
    message.reached = never;
    message.send = no_request;
    message.receive = no_request;
    return id;
}

RequestId Engine::new_operation(int rank, int peer) {
    const RequestId id = operations_.take();
    operations_[id] = {.rank = rank, .peer = peer, .posted = at(rank).clock};
    return id;
}

RequestId Engine::send(int rank, int to, const Envelope& envelope, std::span<const std::byte> data) {
    return send(rank, to, envelope, data, false);
}

RequestId Engine::send_blocking(int rank, int to, const Envelope& envelope, std::span<const std::byte> data) {
    // What a rank loses to a collective meanwhile is known when the operation is finished.
    return send(rank, to, envelope, data, collectives_.empty());
}

RequestId Engine::send(int rank, int to, const Envelope& envelope, std::span<const std::byte> data,
                       bool blocking) {
    const auto bytes = static_cast<std::int64_t>(data.size());
    const std::uint32_t id = new_message(home(rank), to, bytes, Leg::data);
    Message& message = messages_[id];
    message.envelope = envelope;
    if (conditions_.symmetry) [[unlikely]]
        bring_back(message);
    const Protocol& way = protocol(message.from, message.to, bytes);
    message.protocol = &way;
    if (const auto brought = data.data() ? std::min(data.size(), carried) : 0; brought)
        std::memcpy(message.content.data(), data.data(), brought);
    RequestId operation = no_request;
    if (!blocking || way.waits) {
        operation = new_operation(rank, to);
        operations_[operation].tag = envelope.tag;
        operations_[operation].inner = envelope.context < 0;
    }
    ++messages_sent_;
    bytes_sent_ += bytes;
    if (!cores_.empty()) [[unlikely]] {
        message.turn = ++turns_;
        wait_for_send_gap(rank, way.handshake ? 0 : bytes);
    }
    if (coldness_ && !to_itself(message.from, message.to)) [[unlikely]]
        spend(rank, coldness_->sends(message.from, way.handshake));
    Time handed = 0;
    if (way.handshake) {
        message.leg = Leg::request;
        spend(rank, way.handshake_overhead);
        handed = at(rank).clock;
    } else {
        const CoreCosts& costs = core_costs(way, bytes);
        spend(rank, costs.send);
        handed = at(rank).clock;
        spend(rank, costs.rest);
    }
    if (in_line(message)) [[unlikely]]
        message.turn = queue(message).sent++;
    // A send that is over once it is handed over may be forgotten before its message has left.
    if (way.waits) message.send = operation;
    else if (operation != no_request) operations_[operation].done = at(rank).clock;
    if (deferred_.empty() || rank >= players_) {
        hand_over(id, handed);
    } else {
        const Time before = computed_[static_cast<std::size_t>(rank)].in_all;
        on_progress(rank, [this, id, rank, handed, before] {
            hand_over(id, handed + computed_[static_cast<std::size_t>(rank)].in_all - before);
        });
    }
    return operation;
}

RequestId Engine::receive(int rank, int from, const Envelope& envelope, std::span<std::byte> data) {
    const RequestId operation = new_operation(rank, from);
    operations_[operation].receives = true;
    operations_[operation].data = data;
    operations_[operation].tag = envelope.tag;
    operations_[operation].inner = envelope.context < 0;
    const auto found = unexpected_.take(home(rank), envelope);
    if (found.id == none) posted_.append(home(rank), envelope, operation);
    else complete_match(found.id, operation, found.passed);
    return operation;
}

RequestId Engine::one_sided(int rank, int target, std::int64_t bytes, Leg leg) {
    if (conditions_.symmetry) throw Asymmetric();
    const std::uint32_t id = new_message(rank, target, bytes, leg);
    const Protocol& way = machine_.protocol(bytes, reach(rank, target));
    messages_[id].protocol = &way;
    const RequestId operation = messages_[id].send = new_operation(rank, target);
    spend(rank, machine_.node.put_overhead < 0 ? way.send_overhead : machine_.node.put_overhead);
    // Within a node without an engine this core copies the bytes, once.
    if (to_itself(rank, target) || (local(rank, target) && !machine_.node.local_by_network))
        spend(rank, transfer_time(bytes, std::min(way.send_copy, way.receive_copy)));
    ++messages_sent_;
    bytes_sent_ += bytes;
    hand_over(id, at(rank).clock);
    return operation;
}

RequestId Engine::put(int rank, int target, std::int64_t bytes) {
    return one_sided(rank, target, bytes, Leg::put);
}

RequestId Engine::get(int rank, int target, std::int64_t bytes) {
    return one_sided(rank, target, bytes, Leg::get_request);
}

void Engine::signal(int rank, int target, std::function<void()> then) {
    if (conditions_.symmetry) throw Asymmetric();
    const std::uint32_t id = new_message(rank, target, 8, Leg::signal);
    messages_[id].protocol = &machine_.protocol(8, reach(rank, target));
    signals_.emplace(id, std::move(then));
    spend(rank, machine_.node.put_overhead < 0 ? messages_[id].protocol->send_overhead
                                               : machine_.node.put_overhead);
    hand_over(id, at(rank).clock);
}

// Also what happens now goes by the calendar: it must not pass by what was caused before.
void Engine::hand_over(std::uint32_t message, Time when) { events_.push(when, {Kind::inject, message}); }

void Engine::inject(std::uint32_t id) {
    Message& message = messages_[id];
    message.handed = now_;
    const bool back = message.leg == Leg::grant || message.leg == Leg::get_data;
    const int from = back ? message.to : message.from;
    const int to = back ? message.from : message.to;
    const bool empty =
        message.leg == Leg::request || message.leg == Leg::grant || message.leg == Leg::get_request;
    if (message.leg == Leg::grant && message.protocol->one_way && !may_grant(id)) return;
    if (crossings_ && message.leg == Leg::data && from != to) [[unlikely]]
        crossings_->leaves(from, to, now_);
    if (machine_.node.loggops) [[unlikely]] {
        cross(id, from, to);
        return;
    }
    if (to_itself(from, to)) {
        injected(id, now_);
        arrived(id, now_);
        return;
    }
    if (local(from, to) && !machine_.node.local_by_network) {
        // The cores have copied the bytes, or will: what is left is that the other one sees them.
        const Time across = socket(from) == socket(to) ? 0 : machine_.node.socket_latency;
        injected(id, now_);
        arrived(id, now_ + machine_.node.local_latency + across);
        return;
    }
    if (empty && machine_.node.control_first) {
        arrived(id, now_ + under_way(from, to, *message.protocol, 0));
        return;
    }
    if (machine_.coalesce.up_to > 0 && travels_together(message)) [[unlikely]] {
        if (conditions_.symmetry) throw Asymmetric();
        join_others(id);
        return;
    }
    send_out(id, from, to, (empty ? 0 : message.bytes) + message.protocol->header);
}

void Engine::send_out(std::uint32_t id, int from, int to, std::int64_t bytes) {
    if (now_ < kept_) [[unlikely]]
        stopped_ = spoiled_ = true;
    if (const Symmetry* symmetry = conditions_.symmetry) [[unlikely]] {
        const int before = symmetry->behind(placement(from).node);
        from = symmetry->seen(from, before);
        to = symmetry->seen(to, before);
    }
    network_->send(now_, {.from = placement(from).node,
                          .to = placement(to).node,
                          .bytes = bytes,
                          .adaptive = messages_[id].protocol->adaptive,
                          .token = id});
    if (conditions_.automatic && !conditions_.settled && is_untrue()) [[unlikely]]
        stopped_ = contended_ = true;
}

// Whether the tier has turned out not to be the one to take: `loggp` once messages wait for one another;
// `packet`, looked at now and then, once they are long in the mean and many.
bool Engine::is_untrue() {
    constexpr std::uint64_t now_and_then = 4096;  // messages
    if (conditions_.track_contention) return network_->contention() > negligible;
    if (messages_sent_ < next_look_ || conditions_.network != "packet") return false;
    next_look_ = messages_sent_ + std::min(messages_sent_, now_and_then);
    const auto messages = static_cast<std::int64_t>(messages_sent_);
    return tier_under_contention(machine_, topology_, bytes_sent_ / messages, messages) != "packet";
}

void Engine::injected(std::uint32_t id, Time when) {
    if (!together_.empty()) [[unlikely]] {
        if (const auto found = together_.find(id); found != together_.end()) {
            for (const std::uint32_t each : found->second) has_left(each, when);
            return;
        }
    }
    has_left(id, when);
}

void Engine::arrived(std::uint32_t id, Time when) {
    if (!together_.empty()) [[unlikely]] {
        if (auto found = together_.extract(id)) {
            for (const std::uint32_t each : found.mapped()) has_come(each, when);
            return;
        }
    }
    has_come(id, when);
}

void Engine::has_left(std::uint32_t id, Time when) {
    const Message& message = messages_[id];
    if (message.leg != Leg::data || message.send == no_request) return;
    if (when <= now_) complete(message.send, std::max(when, now_));
    else events_.push(when, {Kind::left, message.send});
}

void Engine::has_come(std::uint32_t id, Time when) { events_.push(when, {Kind::reach, id}); }

void Engine::reach(std::uint32_t id) {
    Message& message = messages_[id];
    switch (message.leg) {
        case Leg::request: come_in_turn(id); break;
        case Leg::grant:
            message.leg = Leg::data;
            hand_over(id, seen(player(message.from)) + send_cost(*message.protocol, message.bytes));
            break;
        case Leg::data:
            if (crossings_ && waits_to_cross(id)) [[unlikely]]
                break;
            if (message.protocol->one_way) let_grants_go(message);
            if (cores_.empty()) [[likely]] {
                take_data(id);
            } else {
                cores_[static_cast<std::size_t>(message.to)].arrived.push_back(id);
                settle_at(message.to, now_);
            }
            break;
        case Leg::get_request:
            message.leg = Leg::get_data;
            inject(id);
            break;
        case Leg::get_data:
            complete(message.send, now_);
            messages_.give_back(id);
            break;
        case Leg::put: {
            // The knowledge that it is there comes back over the same way.
            const int hops = topology_.hops(placement(message.from).node, placement(message.to).node);
            const Time back = to_itself(message.from, message.to) ? 0
                              : local(message.from, message.to)
                                  ? machine_.node.local_latency
                                  : machine_.links.base + hops * machine_.links.hop;
            events_.push(now_ + back, {Kind::left, message.send});
            messages_.give_back(id);
            break;
        }
        case Leg::signal: {
            const auto then = std::move(signals_.extract(id).mapped());
            messages_.give_back(id);
            then();
            break;
        }
    }
}

void Engine::take_data(std::uint32_t id) {
    Message& message = messages_[id];
    if (message.receive == no_request && message.early) {
        message.reached = with_receiver(message);
        return_credit(message.to);
    } else if (message.receive == no_request) {
        come_in_turn(id);
    } else {
        if (!credits_.empty() && credits_[static_cast<std::size_t>(message.to)].known.erase(id) > 0)
            return_credit(message.to);
        if (message.envelope.context < 0) operations_[message.receive].posted = message.handed;
        complete(message.receive, with_receiver(message));
        messages_.give_back(id);
    }
}

// An envelope at its receiver: a receive takes it, or it waits for one.
void Engine::match_envelope(std::uint32_t id) {
    Message& message = messages_[id];
    message.reached = with_receiver(message);
    const auto found = posted_.take(message.to, message.envelope);
    const bool waits = found.id == none || operations_[found.id].posted > now_;
    if (waits && !credits_.empty() && message.leg == Leg::request) grant_early(id);
    if (found.id != none) complete_match(id, found.id, found.passed);
    else unexpected_.append(message.to, message.envelope, id);
}

void Engine::complete_match(std::uint32_t id, RequestId receive, std::int32_t passed) {
    Message& message = messages_[id];
    RequestState& pending = operations_[receive];
    pending.source = message.envelope.source;
    pending.peer = message.from;
    pending.cost = passed * machine_.node.match;
    pending.asked = message.protocol->handshake;
    if (cores_.empty()) pending.cost += receive_cost(*message.protocol, message.bytes);
    const auto bytes = static_cast<std::size_t>(message.bytes);
    // The blocks of a collective have the sizes that both ends say.
    if (bytes > pending.data.size() || (message.envelope.context < 0 && bytes != pending.data.size()))
        [[unlikely]]
        does_not_fit(message, pending.data.size());
    if (const auto brought = pending.data.data() ? std::min(bytes, carried) : 0)
        std::memcpy(pending.data.data(), message.content.data(), brought);
    pending.data = pending.data.first(bytes);  // as much as came
    if (!credits_.empty() && !taken_up(message, id, receive)) return;
    if (message.early && message.reached == never) {
        message.receive = receive;
        return;
    }
    if (message.leg == Leg::request) {
        message.receive = receive;
        message.leg = Leg::grant;
        const Time both = std::max({message.reached, pending.posted, seen(message.to)});
        hand_over(id, both + message.protocol->handshake_overhead);
        return;
    }
    // The rank may be ahead of the time at which it posts the receive; it goes on then.
    const bool ahead = !cores_.empty() && pending.posted > now_;
    if (ahead) events_.push(pending.posted, {Kind::left, receive});
    else complete(receive, message.reached);
    if (pending.inner) pending.posted = message.handed;
    messages_.give_back(id);
}

void Engine::complete(RequestId operation, Time when) {
    RequestState& pending = operations_[operation];
    pending.done = when;
    if (std::exchange(pending.awaited, false) && --at(pending.rank).wanted == 0)
        ready_.push_back(pending.rank);
}

}  // namespace leadline::machine
