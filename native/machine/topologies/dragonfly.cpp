// Groups of routers, all joined to all within a group, and each group to each other:
//   {"kind": "dragonfly", "groups": 9, "routers": 4, "nodes": 2, "links": 2, "local": 1, "global": 1}
// routers of a group, nodes of a router, links of a router to other groups; local and global are the
// capacities of the cables within and between groups as multiples of the link rate, 1 without the keys. A
// node has one cable. (Kim et al., Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008: a =
// routers, p = nodes, h = links.)
//
// The routers * links cables of a group are shared out alike among the groups - 1 others; what is left over
// is not used. Seen from a group, the one that is d + 1 before it has the cables d * m .. d * m + m - 1 (m is
// their number; the order is that of a palm tree), and they leave at the routers in turn.
//
// Variant 0 is minimal: at most one cable between groups, that which needs the fewest within them. The others
// are Valiant's: through one of up to four other groups, or within a group through another router, that a
// hash of source and destination chooses.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "machine/topologies/parts.hpp"

namespace leadline::machine {
namespace {

constexpr int most_detours = 4;

struct Counts {
    int groups, routers, nodes, links;
};

// A number that looks drawn at random for each pair (the finalizer of splitmix64).
std::uint32_t hash(int from, int to) {
    auto x = static_cast<std::uint64_t>(from) << 32U | static_cast<std::uint32_t>(to);
    x = (x ^ x >> 30U) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    return static_cast<std::uint32_t>(x >> 33U);
}

// The cables from one group to another, as two of their routers see them.
struct Bundle {
    int near = 0;  // the first cable that leaves at the one router
    int far = 0;   // the first that ends at the other
};

class Dragonfly final : public Topology {
public:
    Dragonfly(const Counts& counts, double local, double global)
        : groups_(counts.groups),
          routers_(counts.routers),
          local_(local),
          global_(global),
          by_router_(counts.nodes),
          by_group_(counts.routers),
          nodes_(product({counts.groups, counts.routers, counts.nodes}, "nodes")) {
        const std::int64_t out = static_cast<std::int64_t>(counts.routers) * counts.links;
        if (groups_ > 1) cables_ = static_cast<int>(std::min<std::int64_t>(out / (groups_ - 1), 1 << 30));
        if (groups_ > 1 && cables_ == 0)
            refuse_topology("routers * links is at least groups - 1, a cable to each other group, but got " +
                            std::to_string(out) + " for " + std::to_string(groups_) + " groups");
        const std::int64_t all = static_cast<std::int64_t>(groups_) * routers_;
        first_local_ = count_links({2 * static_cast<std::int64_t>(nodes_)});
        first_global_ = count_links({first_local_, all * (routers_ - 1)});
        links_ = count_links({first_global_, static_cast<std::int64_t>(groups_) * (groups_ - 1) * cables_});
    }

    [[nodiscard]] int nodes() const override { return nodes_; }
    [[nodiscard]] Link links() const override { return links_; }

    // With a cable to each group at every router, no way within the first group is needed.
    [[nodiscard]] int diameter() const override {
        if (nodes_ == 1) return 0;
        if (routers_ == 1) return groups_ == 1 ? 2 : 3;
        return groups_ == 1 ? 3 : cables_ >= routers_ ? 4 : 5;
    }

    [[nodiscard]] int hops(int from, int to) const override {
        if (from == to) return 0;
        const int a = by_router_.quotient(from), b = by_router_.quotient(to);
        if (a == b) return 2;
        const int group = by_group_.quotient(a), other = by_group_.quotient(b);
        if (group == other) return 3;
        const auto [near, far] = bundle(group, other, a - group * routers_, b - other * routers_);
        if (near == far && near < cables_) return 3;
        return near < cables_ || far < cables_ ? 4 : 5;
    }

    [[nodiscard]] double width(Link link) const override {
        if (link < first_local_) return 1;
        return link < first_global_ ? local_ : global_;
    }

    [[nodiscard]] std::pair<int, int> ends(Link link) const override {
        if (link < nodes_) return {link, nodes_ + by_router_.quotient(link)};
        if (link < first_local_) return {nodes_ + by_router_.quotient(link - nodes_), link - nodes_};
        if (link < first_global_) {
            const int from = (link - first_local_) / (routers_ - 1),
                      to = (link - first_local_) % (routers_ - 1);
            const int group = by_group_.quotient(from) * routers_;
            return {nodes_ + from, nodes_ + group + to + (to >= from - group ? 1 : 0)};
        }
        const int out = (groups_ - 1) * cables_;
        const int group = (link - first_global_) / out, port = (link - first_global_) % out;
        const int other = before(group, port / cables_ + 1);
        const int from = group * routers_ + port % routers_;
        return {nodes_ + from, nodes_ + arrival(group, other, port % cables_)};
    }

    [[nodiscard]] int variants(int from, int to) const override {
        const int a = by_router_.quotient(from), b = by_router_.quotient(to);
        if (a == b) return 1;
        const bool within = by_group_.quotient(a) == by_group_.quotient(b);
        return 1 + std::clamp((within ? routers_ : groups_) - 2, 0, most_detours);
    }

    void route(int from, int to, int variant, std::vector<Link>& route) const override {
        if (from == to) return;
        int at = by_router_.quotient(from);
        const int goal = by_router_.quotient(to);
        const int group = by_group_.quotient(at), other = by_group_.quotient(goal);
        const std::uint32_t drawn = hash(from, to);
        route.push_back(from);
        if (variant > 0 && group == other) {
            const int base = group * routers_;
            const int by = base + detour(drawn, variant, routers_, at - base, goal - base);
            walk(at, by, route);
            at = by;
        } else if (variant > 0) {
            at = cross(at, detour(drawn, variant, groups_, group, other), -1, drawn >> 8U, route);
        }
        if (by_group_.quotient(at) != other) at = cross(at, other, goal, drawn, route);
        walk(at, goal, route);
        route.push_back(nodes_ + to);
    }

    [[nodiscard]] std::vector<int> coordinates(int node) const override { return {node}; }
    [[nodiscard]] int node_at(const std::vector<int>& coordinates) const override {
        return coordinates.front();
    }
    [[nodiscard]] std::vector<int> axes() const override { return {nodes_}; }

private:
    // The variant's choice of `count` but two: spread evenly, from where the hash says.
    static int detour(std::uint32_t drawn, int variant, int count, int one, int two) {
        const int others = count - 2, apart = others / std::min(others, most_detours);
        int choice =
            (static_cast<int>(drawn % static_cast<std::uint32_t>(others)) + (variant - 1) * apart) % others;
        if (choice >= std::min(one, two)) ++choice;
        if (choice >= std::max(one, two)) ++choice;
        return choice;
    }

    [[nodiscard]] int before(int group, int steps) const {
        return group >= steps ? group - steps : group - steps + groups_;
    }
    // The first of group `from`'s ports to another.
    [[nodiscard]] int port(int from, int towards) const {
        const int between = from - towards - 1;
        return (between < 0 ? between + groups_ : between) * cables_;
    }
    // The router at which a cable arrives, with the number of its copy.
    [[nodiscard]] int arrival(int group, int other, int copy) const {
        return other * routers_ + by_group_.rest(port(other, group) + copy);
    }

    // `one` and `two` are routers' numbers in their groups. Numbers of cables_ and more are those of none.
    [[nodiscard]] Bundle bundle(int group, int other, int one, int two) const {
        const int near = one - by_group_.rest(port(group, other));
        const int far = two - by_group_.rest(port(other, group));
        return {near < 0 ? near + routers_ : near, far < 0 ? far + routers_ : far};
    }

    // Which cable a message takes: one that ends at its router `goal` and leaves at its router `at`, else one
    // that does either, else any. -1 is no goal.
    [[nodiscard]] int choose(int at, int group, int other, int goal, std::uint32_t drawn) const {
        auto [near, far] =
            bundle(group, other, at - group * routers_, goal < 0 ? 0 : goal - other * routers_);
        if (goal < 0) far = cables_;
        const bool leaves = near < cables_, ends = far < cables_;
        if (!leaves && !ends) return static_cast<int>(drawn % static_cast<std::uint32_t>(cables_));
        int first = leaves ? near : far;
        if (leaves && ends && drawn % 2 == 1) first = far;
        // Where a group has more cables to another than routers, every so many are alike.
        const int alike = (cables_ - 1 - first) / routers_ + 1;
        return alike == 1
                   ? first
                   : first + routers_ * static_cast<int>((drawn >> 1U) % static_cast<std::uint32_t>(alike));
    }

    // Goes from a router to another group; where it arrives there.
    int cross(int at, int other, int goal, std::uint32_t drawn, std::vector<Link>& route) const {
        const int group = by_group_.quotient(at);
        const int copy = choose(at, group, other, goal, drawn);
        const int out = port(group, other) + copy;
        walk(at, group * routers_ + by_group_.rest(out), route);
        route.push_back(first_global_ + group * (groups_ - 1) * cables_ + out);
        return arrival(group, other, copy);
    }

    void walk(int from, int to, std::vector<Link>& route) const {
        if (from == to) return;
        const int inside = by_group_.rest(to);
        route.push_back(first_local_ + from * (routers_ - 1) + inside - (to > from ? 1 : 0));
    }

    int groups_;
    int routers_;     // of a group
    int cables_ = 0;  // between two groups
    double local_;
    double global_;
    Divider by_router_;  // a node's router
    Divider by_group_;   // a router's group
    int nodes_;
    Link first_local_ = 0;
    Link first_global_ = 0;
    Link links_ = 0;
};

std::unique_ptr<Topology> make_dragonfly(const nlohmann::json& from) {
    const Counts counts{read_count(from, "groups"), read_count(from, "routers"), read_count(from, "nodes"),
                        read_count(from, "links")};
    return std::make_unique<Dragonfly>(counts, read_width(from, "local"), read_width(from, "global"));
}

const TopologyKind dragonfly("dragonfly", make_dragonfly);

}  // namespace
}  // namespace leadline::machine
