// What happens to packets; the rules are told in packet.cpp. One event a hop: that a link is free again where
// something waits for it, or that a head has come into an empty buffer.
#include <algorithm>
#include <bit>

#include "machine/networks/packet_network.hpp"

namespace leadline::machine {

// Has what an event will need come nearer: memory is what this tier waits for. Inlined always: GCC leaves out
// calls of functions that only fetch.
template <int step>
[[gnu::always_inline]] inline void PacketNetwork::fetch(const Event& event) const {
    if (event.kind == engine_free) return;
    if constexpr (step == 0) {
        if (event.kind == port_free) __builtin_prefetch(&ports_[event.which]);
        else __builtin_prefetch(&buffers_[event.which]);
    }
    if constexpr (step != 2) return;
    if (event.kind == port_free) {
        const Index from = ports_[event.which].first;
        if (event.which < links_) __builtin_prefetch(&buffers_[event.which]);
        if (from == none) return;
        __builtin_prefetch(&buffers_[from]);
        __builtin_prefetch(&ports_[link_of(from)]);
    } else {
        const Buffer& buffer = buffers_[event.which];
        const Index to = decided(buffer.head) ? buffer.head.next : none;
        __builtin_prefetch(&ports_[link_of(event.which)]);
        __builtin_prefetch(&routes_[buffer.head.route * stride_ + place(buffer.head)]);
        if (to == none) return;
        __builtin_prefetch(&ports_[to]);
        if (to < links_) __builtin_prefetch(&buffers_[to]);
    }
}

void PacketNetwork::advance() {
    const Event event = events_.pop([this](const Event& soon, auto step)
                                        __attribute__((always_inline)) { fetch<step>(soon); });
    now_ = events_.now();
    switch (event.kind) {
        case port_free:
            if (ports_[event.which].armed != now_) return;  // looked at earlier in the meantime
            ports_[event.which].armed = never;
            serve(event.which, false);
            break;
        case head_ready: request(event.which); break;
        case engine_free: serve_engine(event.which); break;
    }
    work();
    give_reports();
}

// What has become possible at this moment: a list, not recursion, since one slot that comes free may let
// packets move all around a ring.
void PacketNetwork::work() {
    std::size_t done = 0;
    while (done < work_.size()) {
        const Event item = work_[done++];
        if (item.kind == port_free) serve(item.which, false);
        else request(item.which);
    }
    work_.clear();
}

void PacketNetwork::arm(Index at, Time when) {
    Port& port = ports_[at];
    if (when >= port.armed) return;
    port.armed = when;
    events_.push(when, {port_free, at});
}

// Has the head of a buffer wait for its next port.
void PacketNetwork::request(Index at) {
    Buffer& buffer = buffers_[at];
    Packet& packet = buffer.head;
    if (packet.ready > now_) {
        events_.push(packet.ready, {head_ready, at});
        return;
    }
    const Index to = packet.ways != 0 ? choose(at, packet) : packet.next;
    Port& port = ports_[to];
    if (to >= links_) {
        buffer.need = 0;
    } else if (packet.ways == 0) {
        const bool stays = at < links_ && port.ring == ports_[at].ring;
        // It may begin to move into the last of the room, as far as a packet is long.
        buffer.need = static_cast<std::uint16_t>(stays && bubble() > 0 ? 1 : units(packet) + bubble());
        buffer.channel = channel(place(packet));
    }
    buffer.since = now_;
    buffer.next = none;
    (port.first == none ? port.first : buffers_[port.last].next) = at;
    port.last = at;
    if (buffer.count > 1) __builtin_prefetch(&queue_[buffer.first]);
    if (port.busy > now_) arm(to, port.busy);
    else serve(to, false);
}

// The next port of a packet that is routed by load: the one with the most free room, then the one free first.
PacketNetwork::Index PacketNetwork::choose(Index at, Packet& packet) {
    const Index way = grid_ ? dynamic : channel(place(packet));
    Index best = packet.next;
    if (!decided(packet)) {
        best = none;
        Index best_room = 0;
        std::uint16_t ways = 0;
        const auto& routes = messages_[packet.message].routes;
        for (unsigned left = packet.ways; left != 0; left &= left - 1) {
            const int variant = std::countr_zero(left);
            const Index to = route_at(routes[variant], place(packet));
            const Index room = to < links_ ? room_ - std::min<Index>(room_, ports_[to].taken[way]) : room_;
            if (to != best && best != none &&
                (room < best_room || (room == best_room && ports_[to].busy >= ports_[best].busy)))
                continue;
            if (to != best) ways = 0;
            best = to;
            best_room = room;
            ways |= static_cast<std::uint16_t>(1U << variant);
            packet.route = routes[variant];
        }
        packet.ways = ways;
    }
    if (best >= links_) return best;
    const Index size = units(packet);
    if (grid_ && ports_[best].taken[way] + size > room_) return detour(at, packet);
    // In a grid the room is taken now: a packet never waits for it in a dynamic channel, which has no
    // bubble.
    buffers_[at].need = static_cast<std::uint16_t>(grid_ ? 0 : size);
    buffers_[at].channel = way;
    if (grid_) ports_[best].taken[way] += static_cast<std::uint16_t>(size);
    return best;
}

// Sends a packet the deterministic way from here on.
PacketNetwork::Index PacketNetwork::detour(Index at, Packet& packet) {
    const Link link = static_cast<Link>(link_of(at));
    const int to = messages_[packet.message].to;
    links_found_.assign(1, link);
    topology_.route(topology_.ends(link).second, to, 0, links_found_);
    packet.route = new_route(links_found_.data(), links_found_.data() + links_found_.size(), to);
    packet.ways = 0;
    packet.hop = static_cast<std::uint16_t>((packet.hop & last_bit) | own_bit | 1U);
    return route_at(packet.route, 1);
}

// Lets the next packet pass a port, if there is one that can. `turn`: the injection engine is this port's.
void PacketNetwork::serve(Index at, bool turn) {
    Port& port = ports_[at];
    if (port.busy > now_) {
        if (port.first != none || port.local_first != none) arm(at, port.busy);
        return;
    }
    Index before = none;
    const Index buffer = port.first == none ? none : sendable(at, before);
    const bool own = port.local_first != none &&
                     (buffer == none || (!machine_.transit_first && since_[at] < buffers_[buffer].since));
    bool sent = own && inject(at, turn);
    if (!sent && buffer != none) {
        forward(buffer, before, at);
        sent = true;
    }
    if (!sent || (port.first == none && port.local_first == none)) return;
    if (port.busy > now_) arm(at, port.busy);
    else work_.push_back({port_free, at});
}

// The first buffer whose head may pass a port now, and the one that waits before it.
PacketNetwork::Index PacketNetwork::sendable(Index at, Index& before) {
    before = none;
    const Time gap = at >= links_ ? engines_[at - links_].reception_gap : 0;
    for (Index each = ports_[at].first; each != none; before = each, each = buffers_[each].next) {
        const Buffer& buffer = buffers_[each];
        if (at < links_) {
            if (buffer.need == 0 || fits(at, buffer.channel, buffer.need)) return each;
            continue;
        }
        if (gap <= now_) return each;
        const Message& message = messages_[buffer.head.message];
        if (message.missing != message.count) return each;
        arm(at, gap);  // a further message must wait for its turn at the engine
    }
    return none;
}

// Whether a buffer has so many units free, and its ring some beyond them for those who enter. Where only the
// ring lacks them it is asked again a packet later: others free them, anywhere in it.
bool PacketNetwork::fits(Index at, Index channel, Index need) {
    const Port& port = ports_[at];
    if (port.taken[channel] + need > room_) return false;
    if (need <= bubble() || bubble() == 0) return true;
    if (rings_[static_cast<std::size_t>(port.ring)] > static_cast<std::int32_t>(need - bubble())) return true;
    arm(at, now_ + std::max<Time>(1, paces_[at].full));
    return false;
}

void PacketNetwork::take(Index at, Index channel, const Packet& packet) {
    const Index size = units(packet);
    ports_[at].taken[channel] += static_cast<std::uint16_t>(size);
    if (grid_ && channel == 0)
        rings_[static_cast<std::size_t>(ports_[at].ring)] -= static_cast<std::int32_t>(size);
}

void PacketNetwork::give_back(Index at, Index channel, const Packet& packet) {
    const Index size = units(packet);
    ports_[at].taken[channel] -= static_cast<std::uint16_t>(size);
    if (grid_ && channel == 0)
        rings_[static_cast<std::size_t>(ports_[at].ring)] += static_cast<std::int32_t>(size);
}

// Takes the head of a buffer that waits for a port, behind `before`, over that port.
void PacketNetwork::forward(Index from, Index before, Index at) {
    Port& port = ports_[at];
    Buffer& buffer = buffers_[from];
    (before == none ? port.first : buffers_[before].next) = buffer.next;
    if (port.last == from) port.last = before;
    const Index link = link_of(from);
    Port& source = ports_[link];
    if (source.busy <= now_ && (source.first != none || source.local_first != none)) {
        if (source.first != none) __builtin_prefetch(&buffers_[source.first]);
        work_.push_back({port_free, link});
    }
    give_back(link, from < links_ ? 0 : from / links_, buffer.head);
    pass(at, buffer.head, buffer.channel, buffer.head.ways != 0 && grid_);
    if (--buffer.count == 0) return;
    const Index next = buffer.first;
    buffer.head = queue_[next];
    buffer.first = buffer.head.behind;
    queue_.give_back(next);
    if (decided(buffer.head)) __builtin_prefetch(&ports_[buffer.head.next]);
    work_.push_back({head_ready, from});
}

// Sends a packet over a port. The time for which the port is busy.
Time PacketNetwork::pass(Index at, const Packet& packet, Index channel, bool promised) {
    Port& port = ports_[at];
    const Time lasts = duration(packet, paces_[at].full, paces_[at].per_byte);
    port.busy = now_ + lasts;
    clear_ = std::max(clear_, port.busy);
    ++passed_;
    if (at < links_ && !promised) take(at, channel, packet);
    if (options_.watch != nullptr)
        options_.watch->passed(static_cast<int>(at), now_, port.busy, messages_[packet.message].token,
                               static_cast<int>(port.taken[channel] * unit_),
                               at >= links_ || place(packet) != 0);
    if (at >= links_) {
        deliver(at, packet);
        return lasts;
    }
    const Index target = channel * links_ + at;
    Buffer& buffer = buffers_[target];
    const Index place_in_queue = buffer.count == 0 ? none : queue_.take();
    Packet& to = place_in_queue == none ? buffer.head : queue_[place_in_queue];
    to = packet;
    to.behind = none;
    if (place_in_queue != none) {
        (buffer.count == 1 ? buffer.first : queue_[buffer.last].behind) = place_in_queue;
        buffer.last = place_in_queue;
    }
    to.ready = now_ + machine_.links.hop;
    ++to.hop;
    if (decided(to)) to.next = route_at(to.route, place(to));
    if (++buffer.count == 1) events_.push(to.ready, {head_ready, target});
    return lasts;
}

// A packet enters its node; its tail comes as soon as the engine and the slowest link before it let it.
void PacketNetwork::deliver(Index at, const Packet& packet) {
    Message& message = messages_[packet.message];
    if (message.missing == message.count)
        clear_ = std::max(clear_, engines_[at - links_].reception_gap = now_ + machine_.node.message_gap);
    if ((packet.hop & own_bit) != 0) free_routes_.push_back(packet.route);
    if (--message.missing != 0) return;
    const Time bytes = is_last(packet) ? message.rest : piece_;
    const Time tail = packet.ready + static_cast<Time>(static_cast<double>(bytes) * message.slowest);
    reports_.push_back({message.token, true,
                        std::max(std::max(ports_[at].busy, tail) + machine_.links.base, message.arrived)});
    finish(packet.message);
}

// Sends the next packet of the node's own that begins with a link, if it can go now.
bool PacketNetwork::inject(Index at, bool turn) {
    Port& port = ports_[at];
    while (port.local_first != none && messages_[queued_[port.local_first].message].unsent == 0)
        drop_head(port);
    if (!grid_) begin_others(at);
    if (port.local_first == none) return false;
    const Index id = queued_[port.local_first].message;
    Message& message = messages_[id];
    Packet packet;
    const Index way = entrance(at, message, packet);
    if (way == none) return false;  // until a slot comes free
    Engine& engine = engines_[port.node];
    const bool begins = message.unsent == message.count;
    const Time earliest = std::max(message.pace, begins ? engine.gap : 0);
    if (earliest > now_) {
        arm(at, earliest);
        return false;
    }
    if (packet.ways != 0) {
        const Index other = better(at, id, message);
        if (other != at) {
            work_.push_back({port_free, other});
            return false;
        }
    }
    if (engine_taken(at, turn)) return false;
    packet.message = id;
    packet.hop = message.unsent == 1 ? last_bit : 0;
    const Time lasts = duration(packet, injection_full_, injection_per_byte_);
    engine.free = now_ + lasts;
    if (begins) engine.gap = now_ + machine_.node.message_gap;
    clear_ = std::max({clear_, engine.free, engine.gap});
    since_[at] = now_;
    const Time passes = pass(at, packet, way, false);
    --message.unsent;
    if (message.variants != 0) {
        message.pace = now_ + passes;
        for (int variant = 0; variant < message.variants; ++variant) {
            const Index port_of = route_at(message.routes[variant], 0);
            if (port_of == at) message.turn = variant;
            work_.push_back({port_free, port_of});
        }
    }
    if (message.unsent == 0) {
        reports_.push_back(
            {message.token, false, std::max(now_ + std::max(lasts, passes), message.injected)});
    }
    if (!grid_) take_turns(at, id);
    else if (message.unsent == 0) drop_head(port);
    return true;
}

// The channel that a message's next packet would take over a port, and its ways; none where there is no room.
PacketNetwork::Index PacketNetwork::entrance(Index at, const Message& message, Packet& packet) {
    packet.route = message.routes[0];
    const Index size = message.unsent == 1 ? units(message.rest) : full_units_;
    if (message.variants != 0) {
        const Index way = grid_ ? dynamic : 0;
        if (ports_[at].taken[way] + size <= room_) {
            for (int variant = 0; variant < message.variants; ++variant) {
                if (route_at(message.routes[variant], 0) != at) continue;
                packet.ways |= static_cast<std::uint16_t>(1U << variant);
                packet.route = message.routes[variant];
            }
            return way;
        }
        if (route_at(packet.route, 0) != at) return none;
    }
    return fits(at, 0, size + bubble()) ? 0 : none;
}

// Which of the ports where a message stands first should take its next packet: the one with the most free
// room; among equals they take turns.
PacketNetwork::Index PacketNetwork::better(Index at, Index id, const Message& message) const {
    Index best = none, least = room_;
    for (int each = 1; each <= message.variants; ++each) {
        const Index to = route_at(message.routes[(message.turn + each) % message.variants], 0);
        const Port& port = ports_[to];
        const bool able = port.busy <= now_ && port.first == none && !port.waits &&
                          port.local_first != none && queued_[port.local_first].message == id;
        const Index taken = port.taken[grid_ ? dynamic : 0];
        if ((to != at && !able) || taken >= least) continue;
        best = to;
        least = taken;
    }
    return best == none ? at : best;
}

// Whether the injection engine has others to serve first: then the port stands in its line.
bool PacketNetwork::engine_taken(Index at, bool turn) {
    Port& port = ports_[at];
    Engine& engine = engines_[port.node];
    if (turn || (engine.free <= now_ && engine.first == none)) return false;
    if (port.waits) return true;
    port.waits = true;
    port.queued = none;
    if (engine.first == none) events_.push(engine.free, {engine_free, port.node});
    (engine.first == none ? engine.first : ports_[engine.last].queued) = at;
    engine.last = at;
    return true;
}

// The injection engine is free: to the port that has waited longest and can use it.
void PacketNetwork::serve_engine(Index node) {
    Engine& engine = engines_[node];
    while (engine.first != none && engine.free <= now_) {
        const Index at = engine.first;
        engine.first = ports_[at].queued;
        ports_[at].waits = false;
        serve(at, true);
    }
    if (engine.first != none) events_.push(engine.free, {engine_free, node});
}

}  // namespace leadline::machine
