// Which protocol a message takes, what it costs the cores at its two ends, and what a rank has of its core.
#include <algorithm>
#include <map>
#include <utility>

#include "machine/engine.hpp"

namespace leadline::machine {
namespace {

// The bytes after the first, for which LogGOPS charges G and O.
std::int64_t further(std::int64_t bytes) { return std::max<std::int64_t>(bytes - 1, 0); }

}  // namespace

int Engine::socket(int rank) const {
    const Node& node = machine_.node;
    const int per_socket = std::max(1, (node.ranks + node.sockets - 1) / node.sockets);
    return placement(rank).core / per_socket;
}

double Engine::share_of_core(int rank) const {
    if (sharing_.empty()) return 1;
    const auto ranks = sharing_[static_cast<std::size_t>(rank)];
    return ranks == 1 ? 1 : machine_.node.thread_gain / ranks;
}

// Two ranks' nodes may be far apart in memory, and often there is nothing to tell by them.
Reach Engine::reach(int a, int b) const {
    if (to_itself(a, b)) return Reach::own;
    return !machine_.local_protocols.empty() && local(a, b) ? Reach::node : Reach::nodes;
}

const Protocol& Engine::protocol(int from, int to, std::int64_t bytes) const {
    const Reach apart = reach(from, to);
    const Protocol& natural = machine_.protocol(bytes, apart);
    // Forcing eager or rendezvous leaves the one-packet protocol alone, as libraries do (Blue Gene/L, 4).
    if (!forced_ || natural.name == "short") return natural;
    const auto& table = machine_.protocols_of(apart);
    const auto forced = std::ranges::find(table, conditions_.protocol, &Protocol::name);
    return forced == table.end() ? natural : *forced;
}

const Engine::CoreCosts& Engine::core_costs(const Protocol& way, std::int64_t bytes) const {
    const auto place =
        reinterpret_cast<std::uintptr_t>(&way) / sizeof(Protocol) +  // NOLINT(*-reinterpret-cast)
        static_cast<std::uintptr_t>(bytes) / 8;
    CoreCosts& known = core_costs_[place % core_costs_.size()];
    if (known.way != &way || known.bytes != bytes)
        known = {.way = &way,
                 .bytes = bytes,
                 .send = find_send_cost(way, bytes),
                 .rest = find_send_rest(way, bytes),
                 .receive = find_receive_cost(way, bytes)};
    return known;
}

// A core that hands over packet by packet is beside the link: a message is with the network once its first
// packet is, and as much later as the core is slower than the link; the core is free when the last packet is.
Time Engine::find_send_cost(const Protocol& way, std::int64_t bytes) const {
    if (machine_.node.loggops) return way.send_overhead;
    const std::int64_t packets = machine_.packets.count(bytes);
    const Time slower = packets > 1 ? std::max<Time>(0, way.send_packet - packet_time_) : 0;
    return way.send_overhead + way.send_packet + (packets - 1) * slower + transfer_time(bytes, way.send_copy);
}

void Engine::share_cores() {
    const Node& node = machine_.node;
    const int per_socket = std::max(1, (node.ranks + node.sockets - 1) / node.sockets);
    const int cores = std::max(1, node.cores / node.sockets);
    const auto core = [&](const Placement& placement) {
        const int in_node = placement.core / per_socket * cores + placement.core % per_socket % cores;
        return std::pair(placement.node, in_node);
    };
    std::map<std::pair<int, int>, std::int32_t> ranks;
    for (const Placement& placement : placements_) ++ranks[core(placement)];
    for (const Placement& placement : placements_) sharing_.push_back(ranks[core(placement)]);
}

Time Engine::find_send_rest(const Protocol& way, std::int64_t bytes) const {
    if (machine_.node.loggops) return transfer_time(further(bytes), way.send_copy);
    return (machine_.packets.count(bytes) - 1) * std::min(way.send_packet, packet_time_);
}

Time Engine::find_receive_cost(const Protocol& way, std::int64_t bytes) const {
    if (machine_.node.loggops)
        return way.receive_overhead +
               transfer_time(further(bytes), std::min(way.receive_copy, machine_.links.rate));
    // A core that takes packets out as they come is behind only by what it is slower than the link.
    const std::int64_t packets = machine_.packets.count(bytes);
    const Time behind = packets > 1 ? std::max<Time>(0, way.receive_packet - packet_time_) : 0;
    return way.receive_overhead + way.receive_packet + (packets - 1) * behind +
           transfer_time(bytes, way.receive_copy);
}

Time Engine::combine_cost(std::int64_t bytes) const { return transfer_time(bytes, machine_.reduce); }

Time Engine::copy_cost(std::int64_t bytes) const {
    if (machine_.copies()) return transfer_time(bytes, machine_.copy);
    return transfer_time(2 * bytes, machine_.node.memory / machine_.node.ranks);  // read and written
}

Time Engine::combined(int from, int to, std::int64_t bytes, Time handed, Time free, Time whole) const {
    if (!machine_.reduce_streams) return whole + combine_cost(bytes);
    // Packet by packet as they come: it is behind by the last one, or by all if it is slower than they are.
    const Protocol& way = protocol(from, to, bytes);
    const std::int64_t packet = std::min(bytes, machine_.packets.payload);
    const Time first = handed + under_way(from, to, way, packet);
    return std::max(whole + combine_cost(packet),
                    std::max(free, first) + receive_cost(way, bytes) + combine_cost(bytes));
}

Time Engine::under_way(int from, int to, const Protocol& way, std::int64_t bytes) const {
    const Node& node = machine_.node;
    const std::int64_t wire = machine_.packets.wire(bytes + way.header);
    if (node.loggops)
        return local(from, to)
                   ? node.local_latency
                   : machine_.links.base +
                         machine_.links.hop * topology_.hops(placement(from).node, placement(to).node);
    if (to_itself(from, to)) return 0;
    if (local(from, to)) {
        if (node.local_by_network) return node.local_latency + transfer_time(wire, node.local);
        return node.local_latency + (socket(from) == socket(to) ? 0 : node.socket_latency);
    }
    Time latency = machine_.links.base +
                   transfer_time(wire, std::min({node.injection, machine_.links.rate, node.reception}));
    if (machine_.links.hop > 0)
        latency += machine_.links.hop * topology_.hops(placement(from).node, placement(to).node);
    return latency;
}

}  // namespace leadline::machine
