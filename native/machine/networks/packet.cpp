// Tier `packet`: messages cut into packets, which share engines, links and buffers by the router's rules.
//
// - A message is cut as machine.packets says; where that is without bound, into pieces of 4 KiB, which is an
//   approximation. Messages of a node share its injection engine a packet at a time: in a grid, whose engines
//   have a queue for each link, those of different links; elsewhere, where adapters have one for each
//   connection, those to different nodes. The others go one after the other.
// - Virtual cut-through: a packet's head may go on links.hop after it entered a link; the link is busy for
// the
//   packet's bytes over its rate. It needs a slot in the buffer behind the link, which is given back when the
//   packet begins to leave: bytes go out as fast as others come in.
// - Buffers are FIFOs of so many bytes: a head that waits holds up the packets behind it, and short packets
// take
//   as much of one as they are long.
// - Grid (links of rings or lines between nodes): one deterministic channel under the bubble rule (BG/L,
//   BG/P), and one dynamic channel for messages routed by load. Their packets take, at each node, the link
//   with the most free room among the message's variants, and the deterministic channel where there is none;
//   they stay in it then. The bubble rule: to enter a ring a packet needs room for itself and a full one, and
//   the ring must have room left beyond it. Packets have several lengths, so that room may lie in pieces, of
//   which none holds the next packet; therefore to stay in a ring any free room will do, and what of the
//   packet does not fit is held by the link. Room is neither lost nor won by that, some is always free in a
//   ring, and what stands before it moves: a ring never stops.
// - Elsewhere: a channel for each hop of a route, so that no circle of waiting can close, and no bubble rule.
// - A link serves packets in transit before those of its node (machine.transit_first), each class in the
// order
//   in which the buffers' heads began to wait, which is round robin.
// - A message routed by load moves no faster than one link either, as in the other tiers. Where a part of its
//   way is slower than its first link, its packets may overtake one another in the two channels, and the
//   engine at the end may wait a hop behind a short last packet; else the idle law holds for it too.
//
// Durations of packets are cut to whole picoseconds, so queues run up to one part in a million too fast; a
// message is never told earlier than an idle network would bring it, which makes the idle law exact.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "machine/networks/packet_network.hpp"

namespace leadline::machine {
namespace {

constexpr std::int64_t train = 4096;  // B of a piece, where the machine has no packets
// Full packets in a buffer, where the machine does not say; more where a link, and the word of room that
// comes back over it, would wait for each other.
constexpr std::int64_t usual = 8;

std::int64_t full_packet(const Machine& machine) {
    const std::int64_t largest = machine.packets.largest();
    return largest == std::numeric_limits<std::int64_t>::max() ? train : largest;
}

// Of less than two full packets none could enter a ring.
std::int64_t buffer_of(const Machine& machine, const Topology& topology) {
    const std::int64_t full = full_packet(machine);
    if (machine.buffer > 0) return std::max<std::int64_t>(2 * full, machine.buffer);
    double widest = 0;
    for (Link link = 0; link < topology.links(); ++link) widest = std::max(widest, topology.width(link));
    const double rate = machine.links.rate * widest;
    const double under_way = 2 * seconds(machine.links.hop) * rate;
    if (!std::isfinite(under_way)) return usual * full;
    return std::max(usual * full, 2 * full + static_cast<std::int64_t>(std::ceil(under_way)));
}

// What routers count their buffers by; no more than fit the counters.
std::int64_t unit_of(const Machine& machine, std::int64_t buffer) {
    constexpr std::int64_t most = 30'000;
    return std::max(machine.packets.granule, (buffer + most - 1) / most);
}

// Axis and direction of a link between two neighbours of a grid, and the node where its ring begins; -1 for
// any other link.
struct Place {
    int direction = -1;
    int begin = 0;
};
Place place_of(const Topology& topology, Link link) {
    const auto [from, to] = topology.ends(link);
    if (from >= topology.nodes() || to >= topology.nodes()) return {};
    const auto lengths = topology.axes(), at = topology.coordinates(from), goal = topology.coordinates(to);
    Place place;
    for (std::size_t axis = 0; axis < lengths.size(); ++axis) {
        const int step = goal[axis] - at[axis];
        if (step == 0) continue;
        if (place.direction >= 0) return {};  // more than one axis
        const bool grows = step == 1 || step == 1 - lengths[axis];
        if (!grows && step != -1 && step != lengths[axis] - 1) return {};
        place.direction = static_cast<int>(2 * axis) + (grows ? 0 : 1);
    }
    // Nodes are counted by an order of their own: any number that the ring has to itself will do.
    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
        place.begin =
            place.begin * lengths[axis] + (static_cast<int>(axis) == place.direction / 2 ? 0 : at[axis]);
    return place;
}

double per_byte(double rate) { return 1e12 / rate; }

}  // namespace

PacketNetwork::PacketNetwork(const Machine& machine, const Topology& topology, Listener& listener,
                             Options options)
    : machine_(machine),
      topology_(topology),
      listener_(listener),
      options_(options),
      links_(static_cast<Index>(topology.links())),
      piece_(full_packet(machine)),
      buffer_(buffer_of(machine, topology)),
      unit_(unit_of(machine, buffer_)),
      full_units_(units(piece_)),
      room_(std::max<Index>(2 * full_units_, static_cast<Index>(buffer_ / unit_))),
      injection_per_byte_(per_byte(machine.node.injection)),
      engines_(static_cast<std::size_t>(topology.nodes())) {
    injection_full_ = whole(static_cast<double>(piece_) * injection_per_byte_);
    lay_out();
}

// Ports and their rates. The network is a grid when all cables that there are belong to one.
void PacketNetwork::lay_out() {
    const auto nodes = static_cast<std::size_t>(topology_.nodes());
    ports_.resize(links_ + nodes);
    paces_.resize(links_ + nodes);
    since_.resize(links_);
    bool other = false;
    const int directions = static_cast<int>(2 * topology_.axes().size());
    rings_.resize(nodes * static_cast<std::size_t>(directions));
    for (Index port = 0; port < ports_.size(); ++port) {
        double rate = machine_.node.reception;
        if (port < links_) {
            const auto link = static_cast<Link>(port);
            const double width = topology_.width(link);
            if (width <= 0) continue;  // no cable
            alike_ = alike_ && width == 1;
            rate = machine_.links.rate * width;
            const auto [direction, begin] = place_of(topology_, link);
            (direction >= 0 ? grid_ : other) = true;
            if (direction >= 0) {
                ports_[port].ring = begin * directions + direction;
                rings_[static_cast<std::size_t>(ports_[port].ring)] += static_cast<std::int32_t>(room_);
            }
        } else {
            ports_[port].node = port - links_;
        }
        paces_[port].per_byte = per_byte(rate);
        paces_[port].full = whole(static_cast<double>(piece_) * paces_[port].per_byte);
    }
    grid_ = grid_ && !other;
    if (!grid_) aside_.resize(links_);
    widen_routes(static_cast<std::size_t>(topology_.diameter()) + 1);
    grow_channels(1);
}

void PacketNetwork::grow_channels(Index channels) {
    if (channels <= channels_) return;
    channels_ = channels;
    buffers_.resize(static_cast<std::size_t>(channels_) * links_);
}

void PacketNetwork::send(Time now, const Transfer& transfer) {
    const std::int64_t wire = machine_.packets.wire(transfer.bytes);
    if (transfer.from == transfer.to) {
        send_local(now, transfer, wire);
        return;
    }
    now_ = now;
    const Index id = messages_.take();
    Message& message = messages_[id];
    message = {};
    message.token = transfer.token;
    message.to = transfer.to;
    message.count = wire <= piece_ ? 1 : (wire - 1) / piece_ + 1;
    message.unsent = message.missing = message.count;
    message.rest = wire - (message.count - 1) * piece_;
    ++under_way_;
    find_routes(message, transfer);
    foresee(message, now, wire);
    // A port for each first link of its routes; only where there is one do messages wait for others to their
    // node.
    bool alone = !grid_;
    for (int variant = 1; variant < message.variants; ++variant)
        alone = alone && route_at(message.routes[variant], 0) == route_at(message.routes[0], 0);
    for (int variant = 0; variant < std::max<int>(1, message.variants); ++variant) {
        const Index port = route_at(message.routes[variant], 0);
        bool known = false;
        for (int earlier = 0; earlier < variant; ++earlier)
            known = known || route_at(message.routes[earlier], 0) == port;
        if (known) continue;
        ports_[port].node = static_cast<Index>(transfer.from);
        if (!alone || !follows(port, id)) enqueue(port, id);
    }
    work();
    give_reports();
}

// Within a node: the local engine alone, message after message.
void PacketNetwork::send_local(Time now, const Transfer& transfer, std::int64_t wire) {
    Engine& engine = engines_[static_cast<std::size_t>(transfer.from)];
    const Time start = std::max(now, engine.local);
    const Time lasts = transfer_time(wire, machine_.node.local);
    engine.local = start + std::max(lasts, machine_.node.message_gap);
    clear_ = std::max(clear_, engine.local);
    listener_.injected(transfer.token, start + lasts);
    listener_.arrived(transfer.token, start + lasts + machine_.node.local_latency);
}

void PacketNetwork::find_routes(Message& message, const Transfer& transfer) {
    const int all = transfer.adaptive ? topology_.variants(transfer.from, transfer.to) : 1;
    const int kept = std::min(all, most_variants);
    message.variants = transfer.adaptive ? static_cast<std::uint16_t>(kept) : std::uint16_t{0};
    for (int variant = 0; variant < kept; ++variant) {
        links_found_.clear();
        // Of more variants than there are bits, some from everywhere.
        const auto chosen = static_cast<int>(static_cast<std::int64_t>(variant) * all / kept);
        topology_.route(transfer.from, transfer.to, chosen, links_found_);
        const Link* const begin = links_found_.data();
        message.routes[variant] = new_route(begin, begin + links_found_.size(), transfer.to);
        if (!grid_) grow_channels(std::min(most_channels, static_cast<Index>(links_found_.size())));
    }
    if (grid_ && transfer.adaptive) grow_channels(2);
}

// The law of an idle network, on the deterministic route.
void PacketNetwork::foresee(Message& message, Time now, std::int64_t wire) {
    Rate rate = machine_.node.injection;
    int hops = 0;
    for (Index port = 0; (port = route_at(message.routes[0], static_cast<unsigned>(hops))) < links_; ++hops)
        rate = std::min(rate, machine_.links.rate * (alike_ ? 1 : topology_.width(static_cast<Link>(port))));
    message.slowest = per_byte(rate);
    message.injected = now + transfer_time(wire, std::min(rate, machine_.node.reception));
    message.arrived = message.injected + machine_.links.base + hops * machine_.links.hop;
}

// A row with the links and the engine where they end.
PacketNetwork::Index PacketNetwork::new_route(const Link* begin, const Link* end, int to) {
    const auto length = static_cast<std::size_t>(end - begin) + 1;
    if (length > stride_) widen_routes(length);
    if (free_routes_.empty()) {
        free_routes_.push_back(static_cast<Index>(routes_.size() / stride_));
        routes_.resize(routes_.size() + stride_);
    }
    const Index row = free_routes_.back();
    free_routes_.pop_back();
    Index* const at = routes_.data() + row * stride_;
    std::transform(begin, end, at, [](Link link) { return static_cast<Index>(link); });
    at[length - 1] = links_ + static_cast<Index>(to);
    return row;
}

// Longer rows, for a detour longer than the diameter.
void PacketNetwork::widen_routes(std::size_t length) {
    if (length > longest_packet_route)
        throw std::invalid_argument("network packet: routes have at most " +
                                    std::to_string(longest_packet_route - 1) +
                                    " links; network flow has longer ones");
    const std::size_t rows = stride_ == 0 ? 0 : routes_.size() / stride_;
    std::vector<Index> wider(rows * length, none);
    for (std::size_t row = 0; row < rows; ++row)
        std::copy_n(routes_.begin() + static_cast<std::ptrdiff_t>(row * stride_), stride_,
                    wider.begin() + static_cast<std::ptrdiff_t>(row * length));
    routes_ = std::move(wider);
    stride_ = length;
}

void PacketNetwork::enqueue(Index at, Index id) {
    Port& port = ports_[at];
    const Index entry = queued_.take();
    queued_[entry] = {id, none};
    ++messages_[id].queues;
    if (port.local_first == none) {
        port.local_first = entry;
        since_[at] = now_;
        work_.push_back({port_free, at});
    } else {
        queued_[port.local_last].next = entry;
    }
    port.local_last = entry;
}

// Whether a message waits for an earlier one of its node to the same one.
bool PacketNetwork::follows(Index at, Index id) {
    const auto key = std::uint64_t{at} << 32U | static_cast<std::uint32_t>(messages_[id].to);
    const auto [last, first] = last_to_.try_emplace(key, id);
    if (!first) messages_[std::exchange(last->second, id)].behind = id;
    return !first;
}

// Messages that the engine may not begin yet stand aside for those that have begun. Once it may, the first of
// them comes to the front; not twice in succession, so that short messages, however many, starve no long one.
void PacketNetwork::begin_others(Index at) {
    Port& port = ports_[at];
    Line& aside = aside_[at];
    const Time gap = engines_[port.node].gap;
    while (gap > now_ && port.local_first != none && port.local_first != port.local_last) {
        const Index entry = port.local_first;
        const Message& head = messages_[queued_[entry].message];
        if (head.unsent < head.count) break;
        port.local_first = queued_[entry].next;
        queued_[entry].next = none;
        (aside.first == none ? aside.first : queued_[aside.last].next) = entry;
        aside.last = entry;
    }
    if (aside.first == none || (port.local_first != none && (gap > now_ || aside.began))) return;
    const Index entry = aside.first;
    aside.first = queued_[entry].next;
    queued_[entry].next = port.local_first;
    if (port.local_first == none) port.local_last = entry;
    port.local_first = entry;
}

// The head of a port has sent a packet: what is left of it goes to the end, or what waits for its last one
// may begin.
void PacketNetwork::take_turns(Index at, Index id) {
    Port& port = ports_[at];
    const Message& message = messages_[id];
    aside_[at].began = message.unsent + 1 == message.count;
    if (message.unsent > 0) {
        const Index entry = port.local_first;
        if (queued_[entry].next == none) return;
        port.local_first = queued_[entry].next;
        queued_[entry].next = none;
        queued_[port.local_last].next = entry;
        port.local_last = entry;
        return;
    }
    const Index next = message.behind;
    if (next == none) last_to_.erase(std::uint64_t{at} << 32U | static_cast<std::uint32_t>(message.to));
    drop_head(port);
    if (next != none) enqueue(at, next);
    begin_others(at);
}

// Takes the first message from a port's queue.
void PacketNetwork::drop_head(Port& port) {
    const Index entry = port.local_first;
    port.local_first = queued_[entry].next;
    const Index id = queued_[entry].message;
    queued_.give_back(entry);
    Message& message = messages_[id];
    if (--message.queues == 0 && message.missing == 0) messages_.give_back(id);
}

// All packets have arrived.
void PacketNetwork::finish(Index id) {
    const Message& message = messages_[id];
    for (int variant = 0; variant < std::max<int>(1, message.variants); ++variant)
        free_routes_.push_back(message.routes[variant]);
    --under_way_;
    if (message.queues == 0) messages_.give_back(id);
}

// Once all else is done: the listener may send at once, which then tells the rest.
void PacketNetwork::give_reports() {
    while (told_ < reports_.size()) {
        const Report report = reports_[told_++];
        if (report.arrival) listener_.arrived(report.token, report.when);
        else listener_.injected(report.token, report.when);
    }
    reports_.clear();
    told_ = 0;
}

namespace {
const NetworkTier tier("packet",
                       [](const Machine& machine, const Topology& topology, Listener& listener,
                          bool) -> std::unique_ptr<Network> {
                           return std::make_unique<PacketNetwork>(machine, topology, listener,
                                                                  PacketNetwork::Options{});
                       });
}  // namespace

}  // namespace leadline::machine
