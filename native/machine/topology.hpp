// How nodes are joined: links, hops, routes. One file a topology in topologies/, which enters itself.
//
// Nodes are 0 .. nodes() - 1. A link is one direction of a cable (or of a switch port), numbered
// 0 .. links() - 1. A route is the links that a message passes, in order, from the sending node's own output
// to the receiving node's own input; a node reaches itself without any. Processes are no concern of a
// topology: which rank sits where is a Mapping.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leadline::machine {

using Link = std::int32_t;

// How nodes are moved, round the end of each axis: so far along it; or, `mirrored`, on axes of even length
// to as far before that place as they were behind the first.
struct Motion {
    std::vector<int> by;  // of each axis, less than its length
    bool mirrored = false;

    [[nodiscard]] bool mirrors(int length) const { return mirrored && length % 2 == 0; }
    [[nodiscard]] int moved(std::size_t axis, int at, int length) const {
        return (by[axis] + length + (mirrors(length) ? -at : at)) % length;
    }
};

class Topology {
public:
    Topology() = default;
    Topology(const Topology&) = delete;
    Topology& operator=(const Topology&) = delete;
    virtual ~Topology() = default;

    [[nodiscard]] virtual int nodes() const = 0;
    [[nodiscard]] virtual Link links() const = 0;
    // Links on the minimal route, which is the shortest (on a dragonfly, of those that leave a group once).
    [[nodiscard]] virtual int hops(int from, int to) const = 0;
    // The most hops between any two nodes.
    [[nodiscard]] virtual int diameter() const = 0;
    // A link's capacity as a multiple of the machine's link rate (a tapered or a doubled link); 0 for a
    // number of a port without a cable, which no route has.
    [[nodiscard]] virtual double width(Link) const { return 1; }
    // Whether every link that a route may have is of width 1.
    [[nodiscard]] virtual bool uniform() const;
    // Where a link begins and ends: a node's number, or nodes() and more for a switch.
    [[nodiscard]] virtual std::pair<int, int> ends(Link link) const = 0;
    // In how many ways a message may travel. Variant 0 is the deterministic route; an adaptive network
    // chooses among all of them by their loads.
    [[nodiscard]] virtual int variants(int, int) const { return 1; }
    // Appends the links of one variant to `route`.
    virtual void route(int from, int to, int variant, std::vector<Link>& route) const = 0;
    // The ends of the deterministic route, for what needs no more of it; `from` is not `to`.
    struct RouteEnds {
        Link first = 0;
        Link last = 0;
        std::int32_t hops = 0;
    };
    [[nodiscard]] virtual RouteEnds route_ends(int from, int to) const;
    // Coordinates of a node, slowest first where there is an order; their number is that of axes().
    [[nodiscard]] virtual std::vector<int> coordinates(int node) const = 0;
    // The node that has them; what stands behind the last axis is not looked at.
    [[nodiscard]] virtual int node_at(const std::vector<int>& coordinates) const = 0;
    // Length of each axis: X, Y, Z, ... of a torus; one axis of all nodes where there is no grid.
    [[nodiscard]] virtual std::vector<int> axes() const = 0;
    // Whether there is a grid.
    [[nodiscard]] virtual bool grid() const { return false; }
    // Whether nodes that are moved so have the routes of those where they were, moved with them; and what a
    // link becomes by it.
    [[nodiscard]] virtual bool moves(const Motion&) const { return false; }
    [[nodiscard]] virtual Link moved(Link link, const Motion&) const { return link; }
    // Whether nodes stand for one another (Symmetry), and links, of which a route may then have one often.
    [[nodiscard]] virtual bool folded() const { return false; }
    // The node whose engines a node uses.
    [[nodiscard]] virtual int place(int node) const { return node; }
};

// A topology of a kind ("torus", "mesh", "fat-tree", "dragonfly", "single") from its table of the machine
// description. Throws std::invalid_argument with a sentence for what it cannot be.
std::unique_ptr<Topology> make_topology(const nlohmann::json& description);

// Entered once by each file of topologies/.
class TopologyKind {
public:
    using Make = std::unique_ptr<Topology> (*)(const nlohmann::json&);
    TopologyKind(std::string_view kind, Make make);
};
std::vector<std::string> topology_kinds();

}  // namespace leadline::machine
