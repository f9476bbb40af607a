#include "machine/hardware.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

namespace leadline::machine {

namespace {

// Levels below the root of a tree in which each node has two below it.
int depth(int nodes) {
    return std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(nodes))) - 1);
}

Time tree_latency(const CollectiveNetwork& tree, int nodes) {
    return tree.nodes == 0 ? tree.latency : tree.latency * depth(nodes) / depth(tree.nodes);
}

}  // namespace

std::optional<Service> by_network(const Machine& machine, int nodes, const HardwareCall& call) {
    if (!call.whole) return std::nullopt;
    if (machine.barrier.present && call.operation == "barrier")
        return Service{.lasts = machine.barrier.latency, .overhead = machine.barrier.overhead};
    const CollectiveNetwork& tree = machine.collective;
    const bool reduces = call.operation == "reduce" || call.operation == "allreduce";
    if (!tree.present || (!reduces && call.operation != "bcast")) return std::nullopt;
    double factor = 1;
    if (reduces) {
        if (call.floating) factor = tree.float_factor;
        else if (!call.sums) factor = tree.product_factor;
    }
    const auto passes = scaled(transfer_time(call.bytes, tree.rate), factor);
    return Service{.waits_for_all = reduces,
                   .lasts = tree_latency(tree, nodes) + passes,
                   .overhead = tree.overhead,
                   .occupies = passes};
}

bool goes_by_lines(const Machine& machine, const HardwareCall& call) {
    if (call.bytes < machine.lines_from) return false;
    if (call.operation == "bcast") return machine.line_broadcast;
    return (call.operation == "reduce" || call.operation == "allreduce") && machine.line_reduce > 0;
}

Service by_lines(const Engine& engine, const Box& box, const HardwareCall& call) {
    const Machine& machine = engine.machine();
    int hops = 0;
    for (const int span : box.spans) hops += span - 1;
    const Protocol& way = machine.protocol(call.bytes, Reach::nodes);
    return {.waits_for_all = call.operation != "bcast",
            .lasts = engine.send_cost(way, call.bytes) + machine.links.base + hops * machine.links.hop,
            .overhead = engine.receive_cost(way, call.bytes)};
}

// Packets with the deposit bit are taken by every node of a line that they pass. A line of a box takes one
// stream; a ring that the box fills takes one each way, and every further ring as many again, since the
// message's parts go through the rings in different orders (Almasi et al., Optimization of MPI Collective
// Communication on BlueGene/L Systems, ICS 2005). No node takes in more than its reception engine can. A
// reduction is slower than any of that: cores add what they pass on.
void LineTraffic::begin(Time when, const Box& box, const HardwareCall& call, std::function<void(Time)> then) {
    const Machine& machine = engine_.machine();
    const auto lengths = engine_.topology().axes();
    int rings = 0;
    for (std::size_t axis = 0; axis < box.spans.size(); ++axis)
        rings += static_cast<int>(box.spans[axis] == lengths[axis] && lengths[axis] > 1);
    const bool reduces = call.operation != "bcast";
    const int streams = std::max(1, 2 * rings);
    const Rate alone =
        reduces ? Rate(machine.line_reduce) : std::min(streams * machine.links.rate, machine.node.reception);
    const std::int64_t wire = reduces ? call.bytes : machine.packets.wire(call.bytes);
    engine_.at_time(when, [this, &box, alone, wire, then = std::move(then)]() mutable {
        share();
        streams_.push_back(
            {.box = &box, .alone = alone, .left = static_cast<double>(wire), .then = std::move(then)});
        share();
    });
}

// What has been sent since the last look, who is through, and the rates of the others from now on.
void LineTraffic::share() {
    const Time now = engine_.now();
    const double passed = seconds(now - since_);
    since_ = now;
    for (Stream& each : streams_) each.left = std::max(0.0, each.left - each.rate * passed);
    std::list<Stream> through;
    for (auto each = streams_.begin(); each != streams_.end();) {
        const auto next = std::next(each);
        // Less than a picosecond's worth is what sums of fractions leave over.
        if (each->rate > 0 && each->left <= each->rate * 1e-12) through.splice(through.end(), streams_, each);
        each = next;
    }
    Time first = never;
    for (Stream& each : streams_) {
        const auto sharing =
            std::ranges::count_if(streams_, [&](const Stream& other) { return other.box->meets(*each.box); });
        each.rate = each.alone / static_cast<double>(sharing);
        first = std::min(first, now + with_parts(static_cast<Time>(std::ceil(each.left * (1e12 / each.rate))),
                                                 each.alone));
    }
    ++epoch_;
    if (first != never) engine_.at_time(first, [this, epoch = epoch_] { look(epoch); });
    for (Stream& each : through) each.then(now);
}

void LineTraffic::look(std::uint64_t epoch) {
    if (epoch == epoch_) share();
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

}  // namespace leadline::machine
