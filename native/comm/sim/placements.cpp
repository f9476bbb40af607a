// Where the ranks of a simulated run sit: by mapping, or two of them where a placement wants them.
#include <algorithm>

#include "backend.hpp"

namespace leadline::sim {
namespace {

// Node after node; on each its sockets in turns.
std::vector<machine::Placement> by_sockets(const machine::Node& node, const machine::Topology& topology,
                                           int ranks) {
    if (ranks > static_cast<std::int64_t>(topology.nodes()) * node.ranks)
        throw Unsupported(std::to_string(ranks) + " ranks do not fit on " + std::to_string(topology.nodes()) +
                          " nodes with " + std::to_string(node.ranks) + " each");
    if (node.ranks % node.sockets != 0)
        throw Unsupported("sockets of this machine have not as many ranks each, and cannot take turns");
    const int per_socket = node.ranks / node.sockets;
    std::vector<machine::Placement> placements;
    for (int rank = 0; rank < ranks; ++rank) {
        const int on_node = rank % node.ranks;
        const int core = on_node % node.sockets * per_socket + on_node / node.sockets;
        placements.push_back({.node = rank / node.ranks, .core = core});
    }
    return placements;
}

// One on each node, in the order in which the mapping takes nodes, and again where there are more ranks.
std::vector<machine::Placement> one_on_each(const machine::Node& node, const machine::Topology& topology,
                                            int ranks, const std::string& mapping) {
    if (ranks > static_cast<std::int64_t>(topology.nodes()) * node.ranks)
        throw Unsupported(std::to_string(ranks) + " ranks do not fit on " + std::to_string(topology.nodes()) +
                          " nodes with " + std::to_string(node.ranks) + " each");
    std::vector<machine::Placement> placements =
        machine::make_mapping(mapping, topology, 1, std::min(ranks, topology.nodes()));
    const std::size_t nodes = placements.size();
    for (std::size_t rank = nodes; rank < static_cast<std::size_t>(ranks); ++rank)
        placements.push_back({.node = placements[rank % nodes].node, .core = static_cast<int>(rank / nodes)});
    return placements;
}

}  // namespace

std::vector<machine::Placement> place_ranks(const machine::Machine& machine,
                                            const machine::Topology& topology, int ranks,
                                            const std::string& mapping, const std::string& placement) {
    const machine::Node& node = machine.node;
    if (placement == "default" && mapping == "sockets") return by_sockets(node, topology, ranks);
    if (placement == "default") return machine::make_mapping(mapping, topology, node.ranks, ranks);
    if (placement == "nodes" && ranks > 2) return one_on_each(node, topology, ranks, mapping);
    if (ranks != 2)
        throw Unsupported("a described machine places two ranks by '" + placement + "', more by a mapping");
    const int per_socket = (node.ranks + node.sockets - 1) / node.sockets;
    if (placement == "nodes") {
        if (topology.nodes() < 2) throw Unsupported("the machine has one node");
        // The node that is nearest, so that what is measured is the network and not its size.
        int nearest = 1;
        for (int each = 1; each < topology.nodes(); ++each)
            if (topology.hops(0, each) < topology.hops(0, nearest)) nearest = each;
        return {{0, 0}, {nearest, 0}};
    }
    if (node.ranks < 2) throw Unsupported("a node of this machine runs one rank");
    if (placement == "sockets") {
        if (node.sockets < 2) throw Unsupported("a node of this machine has one socket");
        return {{0, 0}, {0, per_socket}};
    }
    if (per_socket < 2) throw Unsupported("a socket of this machine runs one rank");
    return {{0, 0}, {0, 1}};
}

}  // namespace leadline::sim
