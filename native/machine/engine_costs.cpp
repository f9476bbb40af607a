// What a message costs the cores at its two ends, and what a rank has of its core.
#include <algorithm>
#include <map>
#include <utility>

#include "machine/engine.hpp"

namespace leadline::machine {

// A core that hands over packet by packet is beside the link: a message is with the network once its first
// packet is, and as much later as the core is slower than the link; the core is free when the last packet is.
Time Engine::send_cost(const Protocol& way, std::int64_t bytes) const {
    const std::int64_t packets = machine_.packets.count(bytes);
    const Time slower = packets > 1 ? std::max<Time>(0, way.send_packet - packet_time_) : 0;
    return way.send_overhead + way.send_packet + (packets - 1) * slower + transfer_time(bytes, way.send_copy);
}

void Engine::share_cores() {
    const Node& node = machine_.node;
    const int per_socket = std::max(1, (node.ranks + node.sockets - 1) / node.sockets);
    const int cores = std::max(1, node.cores / node.sockets);
    const auto core = [&](const Seat& seat) {
        const int in_node = seat.core / per_socket * cores + seat.core % per_socket % cores;
        return std::pair(seat.node, in_node);
    };
    std::map<std::pair<int, int>, std::int32_t> ranks;
    for (const Seat& seat : seats_) ++ranks[core(seat)];
    for (const Seat& seat : seats_) sharing_.push_back(ranks[core(seat)]);
}

Time Engine::send_rest(const Protocol& way, std::int64_t bytes) const {
    return (machine_.packets.count(bytes) - 1) * std::min(way.send_packet, packet_time_);
}

Time Engine::receive_cost(const Protocol& way, std::int64_t bytes) const {
    // A core that takes packets out as they come is behind only by what it is slower than the link.
    const std::int64_t packets = machine_.packets.count(bytes);
    const Time behind = packets > 1 ? std::max<Time>(0, way.receive_packet - packet_time_) : 0;
    return way.receive_overhead + way.receive_packet + (packets - 1) * behind +
           transfer_time(bytes, way.receive_copy);
}

Time Engine::under_way(int from, int to, const Protocol& way, std::int64_t bytes) const {
    const Node& node = machine_.node;
    const std::int64_t wire = machine_.packets.wire(bytes + way.header);
    if (local(from, to)) {
        if (node.local_by_network) return node.local_latency + transfer_time(wire, node.local);
        return node.local_latency + (socket(from) == socket(to) ? 0 : node.socket_latency);
    }
    Time latency = machine_.links.base +
                   transfer_time(wire, std::min({node.injection, machine_.links.rate, node.reception}));
    if (machine_.links.hop > 0)
        latency += machine_.links.hop * topology_.hops(seat(from).node, seat(to).node);
    return latency;
}

}  // namespace leadline::machine
