#include "machine/hardware.hpp"

#include <algorithm>
#include <utility>

namespace leadline::machine {
namespace {

bool on_barrier_network(const BarrierNetwork& network, const Call& call, std::vector<Time>& clocks) {
    if (!network.present || !call.whole || call.operation != "barrier") return false;
    std::ranges::fill(clocks, std::ranges::max(clocks) + network.overhead + network.latency);
    return true;
}

bool on_collective_network(const CollectiveNetwork& network, const Call& call, std::vector<Time>& clocks) {
    const bool reduces = call.operation == "reduce" || call.operation == "allreduce";
    if (!network.present || !call.whole || (!reduces && call.operation != "bcast")) return false;
    double factor = 1;
    if (reduces) {
        if (call.floating) factor = network.float_factor;
        else if (!call.sums) factor = network.product_factor;
    }
    const Time lasts = whole(factor * static_cast<double>(transfer_time(call.bytes, network.rate)));
    // A broadcast waits for its root, a reduction for everybody.
    const Time begin =
        call.operation == "bcast" ? clocks[static_cast<std::size_t>(call.root)] : std::ranges::max(clocks);
    for (Time& clock : clocks) clock = std::max(clock, begin + network.latency + lasts) + network.overhead;
    return true;
}

}  // namespace

bool goes_by_lines(const Machine& machine, const Call& call) {
    if (call.bytes < machine.lines_from) return false;
    if (call.operation == "bcast") return machine.line_broadcast;
    return (call.operation == "reduce" || call.operation == "allreduce") && machine.line_reduce > 0;
}

// Packets with the deposit bit are taken by every node of a line that they pass. A line of a box takes one
// stream; a ring that the box fills takes one each way, and every further ring as many again, since the
// message's parts go through the rings in different orders (Almasi et al., Optimization of MPI Collective
// Communication on BlueGene/L Systems, ICS 2005). No node takes in more than its reception engine can. A
// reduction is slower than any of that: cores add what they pass on.
void by_lines(const Engine& engine, const Box& box, int sharing, const Call& call,
              std::vector<Time>& clocks) {
    const Machine& machine = engine.machine();
    const auto lengths = engine.topology().axes();
    int rings = 0;
    int hops = 0;
    for (std::size_t axis = 0; axis < box.spans.size(); ++axis) {
        rings += static_cast<int>(box.spans[axis] == lengths[axis] && lengths[axis] > 1);
        hops += box.spans[axis] - 1;
    }
    const bool reduces = call.operation != "bcast";
    const int streams = std::max(1, 2 * rings);
    const double rate =
        reduces ? machine.line_reduce : std::min(streams * machine.links.rate, machine.node.reception);
    const Protocol& way = machine.protocol(call.bytes, false);
    const Time ready = reduces ? std::ranges::max(clocks) : clocks[static_cast<std::size_t>(call.root)];
    const std::int64_t wire = reduces ? call.bytes : machine.packets.wire(call.bytes);
    const Time there = ready + engine.send_cost(way, call.bytes) + machine.links.base +
                       hops * machine.links.hop + transfer_time(wire * sharing, rate);
    for (Time& clock : clocks) clock = std::max(clock, there) + engine.receive_cost(way, call.bytes);
}

bool Box::meets(const Box& other) const {
    for (std::size_t axis = 0; axis < low.size(); ++axis)
        if (low[axis] + spans[axis] <= other.low[axis] || other.low[axis] + other.spans[axis] <= low[axis])
            return false;
    return true;
}

std::optional<Box> box_of(const Topology& topology, std::span<const int> nodes) {
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
    return Box{std::move(low), std::move(spans)};
}

bool by_network(const Machine& machine, const Call& call, std::vector<Time>& clocks) {
    return on_barrier_network(machine.barrier, call, clocks) ||
           on_collective_network(machine.collective, call, clocks);
}

}  // namespace leadline::machine
