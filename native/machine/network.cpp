#include "machine/network.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "machine/networks/watched.hpp"

namespace leadline::machine {

std::string_view tier_under_contention(const Machine& machine, const Topology& topology, std::int64_t bytes,
                                       std::int64_t messages) {
    constexpr std::int64_t few = 8;  // packets; beyond, one more or less makes little of a share
    if (topology.diameter() >= longest_packet_route) return "flow";
    return machine.packets.count(bytes / std::max<std::int64_t>(messages, 1)) <= few ? "packet" : "flow";
}

namespace {

std::unique_ptr<Network> make_tier(std::string_view tier, const Machine& machine, const Topology& topology,
                                   Listener& listener, bool track_contention) {
    if (tier == "loggp") return make_loggp(machine, topology, listener, track_contention);
    if (tier == "flow") return make_flow(machine, topology, listener);
    if (tier == "packet") return make_packet(machine, topology, listener);
    throw std::invalid_argument("there is no network tier '" + std::string(tier) +
                                "'; there are auto, loggp, flow and packet");
}

}  // namespace

std::unique_ptr<Network> make_network(std::string_view tier, const Machine& machine, const Topology& topology,
                                      Listener& listener, bool track_contention) {
    ++networks_made;
    if (!watching) return make_tier(tier, machine, topology, listener, track_contention);
    return watched(tier, machine, topology, listener, [&](Listener& watch) {
        return make_tier(tier, machine, topology, watch, track_contention);
    });
}

}  // namespace leadline::machine
