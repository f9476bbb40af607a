#include "machine/network.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

#include "machine/networks/watched.hpp"

namespace leadline::machine {

std::string_view tier_under_contention(const Machine& machine, const Topology& topology, std::int64_t bytes,
                                       std::int64_t messages) {
    constexpr std::int64_t few = 8;               // packets; beyond, one more or less makes little of a share
    constexpr std::int64_t affordable = 1 << 21;  // packets times links: some 0.2 s
    const std::int64_t longest = topology.diameter();
    if (longest >= longest_packet_route) return "flow";
    const std::int64_t packets = machine.packets.count(bytes);
    if (packets <= few) return "packet";
    return packets <= affordable / std::max<std::int64_t>(messages * longest, 1) ? "packet" : "flow";
}

bool playable_by_packets(const Machine& machine, const Topology& topology, std::int64_t bytes,
                         std::int64_t messages) {
    constexpr std::int64_t most = std::int64_t{1} << 34;  // packets times links
    const std::int64_t each = machine.packets.count(bytes) * std::max(topology.diameter(), 1);
    return messages <= most / std::max<std::int64_t>(each, 1);
}

namespace {

// Inside a function, so that it is there before the first file of networks/ enters itself.
std::map<std::string, NetworkTier::Make, std::less<>>& tiers() {
    static std::map<std::string, NetworkTier::Make, std::less<>> all;
    return all;
}

NetworkTier::Make tier_named(std::string_view name) {
    if (const auto found = tiers().find(name); found != tiers().end()) return found->second;
    std::string known = "auto";
    for (const auto& [each, make] : tiers()) known += ", " + each;
    throw std::invalid_argument("there is no network tier '" + std::string(name) + "'; there are " + known);
}

}  // namespace

NetworkTier::NetworkTier(std::string_view name, Make make) { tiers().emplace(name, make); }

std::vector<std::string> network_tiers() {
    std::vector<std::string> names;
    for (const auto& [name, make] : tiers()) names.push_back(name);
    return names;
}

std::unique_ptr<Network> make_network(std::string_view tier, const Machine& machine, const Topology& topology,
                                      Listener& listener, bool track_contention) {
    ++networks_made;
    const auto make = tier_named(tier);
    if (!watching) return make(machine, topology, listener, track_contention);
    return watched(tier, machine, topology, listener,
                   [&](Listener& watch) { return make(machine, topology, watch, track_contention); });
}

}  // namespace leadline::machine
