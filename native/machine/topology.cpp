#include "machine/topology.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace leadline::machine {
namespace {

// Inside a function, so that it is there before the first file of topologies/ enters itself.
std::map<std::string, TopologyKind::Make, std::less<>>& kinds() {
    static std::map<std::string, TopologyKind::Make, std::less<>> all;
    return all;
}

std::string known() {
    std::string names;
    for (const auto& [name, make] : kinds()) names += (names.empty() ? "" : ", ") + name;
    return names;
}

}  // namespace

TopologyKind::TopologyKind(std::string_view kind, Make make) { kinds().emplace(kind, make); }

std::vector<std::string> topology_kinds() {
    std::vector<std::string> names;
    for (const auto& [name, make] : kinds()) names.push_back(name);
    return names;
}

Topology::RouteEnds Topology::route_ends(int from, int to) const {
    thread_local std::vector<Link> links;
    links.clear();
    route(from, to, 0, links);
    return {.first = links.front(), .last = links.back(), .hops = static_cast<std::int32_t>(links.size())};
}

bool Topology::uniform() const {
    for (Link link = 0; link < links(); ++link)
        if (const double capacity = width(link); capacity != 1 && capacity != 0) return false;
    return true;
}

std::unique_ptr<Topology> make_topology(const nlohmann::json& description) {
    if (!description.is_object() || !description.contains("kind") || !description["kind"].is_string())
        throw std::invalid_argument("topology: kind is one of " + known() + ", but got " +
                                    description.dump());
    const auto kind = description["kind"].get<std::string>();
    const auto found = kinds().find(kind);
    if (found == kinds().end())
        throw std::invalid_argument("topology: kind is one of " + known() + ", but got \"" + kind + "\"");
    return found->second(description);
}

}  // namespace leadline::machine
