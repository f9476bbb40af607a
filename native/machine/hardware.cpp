#include "machine/hardware.hpp"

#include <algorithm>
#include <numeric>

namespace leadline::machine {
namespace {

bool on_barrier_network(const BarrierNetwork& network, const Call& call, std::vector<Time>& clocks) {
    if (!network.present || !call.whole || call.operation != "barrier") return false;
    std::ranges::fill(clocks, std::ranges::max(clocks) + network.overhead + network.latency);
    return true;
}

bool on_collective_network(const CollectiveNetwork& network, const Call& call, std::vector<Time>& clocks) {
    if (!network.present || !call.whole || call.operation == "barrier") return false;
    double factor = 1;
    if (call.operation == "allreduce") {
        if (call.floating) factor = network.float_factor;
        else if (!call.sums) factor = network.product_factor;
    }
    const auto lasts =
        static_cast<Time>(factor * static_cast<double>(transfer_time(call.bytes, network.rate)));
    // A broadcast waits for its root, a reduction for everybody.
    const Time begin =
        call.operation == "bcast" ? clocks[static_cast<std::size_t>(call.root)] : std::ranges::max(clocks);
    for (Time& clock : clocks) clock = std::max(clock, begin + network.latency + lasts) + network.overhead;
    return true;
}

// Packets with the deposit bit are taken by every node of a line that they pass. A line of a box takes one
// stream; a ring that the box fills takes one each way, and every further ring as many again, since the
// message's parts go through the rings in different orders (Almasi et al., Optimization of MPI Collective
// Communication on BlueGene/L Systems, ICS 2005). No node takes in more than its reception engine can.
bool by_line_broadcast(const Engine& engine, std::span<const std::int32_t> members, const Call& call,
                       std::vector<Time>& clocks) {
    const Machine& machine = engine.machine();
    if (!machine.line_broadcast || call.operation != "bcast" || machine.node.ranks > 1) return false;
    std::vector<int> nodes(clocks.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
        nodes[i] = engine.seat(members.empty() ? static_cast<int>(i) : members[i]).node;
    const auto box = box_of(engine.topology(), nodes);
    if (!box) return false;
    const auto lengths = engine.topology().axes();
    int rings = 0;
    int hops = 0;
    for (std::size_t axis = 0; axis < box->size(); ++axis) {
        rings += static_cast<int>((*box)[axis] == lengths[axis] && lengths[axis] > 1);
        hops += (*box)[axis] - 1;
    }
    const int streams = std::max(1, 2 * rings);
    const double rate = std::min(streams * machine.links.rate, machine.node.reception);
    const Protocol& way = machine.protocol(call.bytes, false);
    const Time sent = clocks[static_cast<std::size_t>(call.root)] + engine.send_cost(way, call.bytes);
    const Time there = sent + machine.links.base + hops * machine.links.hop +
                       transfer_time(machine.packets.wire(call.bytes), rate);
    for (Time& clock : clocks) clock = std::max(clock, there) + engine.receive_cost(way, call.bytes);
    return true;
}

}  // namespace

std::optional<std::vector<int>> box_of(const Topology& topology, std::span<const int> nodes) {
    if (nodes.empty()) return std::nullopt;
    const auto axes = topology.axes().size();
    std::vector<int> low = topology.coordinates(nodes.front());
    std::vector<int> high = low;
    for (const int node : nodes) {
        const auto at = topology.coordinates(node);
        for (std::size_t axis = 0; axis < axes; ++axis) {
            low[axis] = std::min(low[axis], at[axis]);
            high[axis] = std::max(high[axis], at[axis]);
        }
    }
    std::int64_t cells = 1;
    std::vector<int> spans;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        spans.push_back(high[axis] - low[axis] + 1);
        cells *= spans.back();
    }
    // As many different nodes as the box has: every one of them.
    std::vector<int> sorted(nodes.begin(), nodes.end());
    std::ranges::sort(sorted);
    const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
    if (twice || cells != static_cast<std::int64_t>(nodes.size())) return std::nullopt;
    return spans;
}

bool by_hardware(const Engine& engine, std::span<const std::int32_t> members, const Call& call,
                 std::vector<Time>& clocks) {
    return on_barrier_network(engine.machine().barrier, call, clocks) ||
           on_collective_network(engine.machine().collective, call, clocks) ||
           by_line_broadcast(engine, members, call, clocks);
}

}  // namespace leadline::machine
