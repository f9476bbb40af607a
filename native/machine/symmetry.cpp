#include "machine/symmetry.hpp"

#include <algorithm>
#include <utility>

namespace leadline::machine {
namespace {

// Where nodes are moved to. It knows all coordinates, since a topology makes those of one anew.
class Moves {
public:
    explicit Moves(const Topology& topology)
        : topology_(topology), axes_(topology.axes()), to_(axes_.size()) {
        places_.resize(static_cast<std::size_t>(topology.nodes()) * axes_.size());
        std::vector<int> at(axes_.size());
        for (bool more = true; more;) {
            std::ranges::copy(at, places_.begin() + first(topology.node_at(at)));
            std::size_t axis = axes_.size();
            more = false;
            while (!more && axis-- > 0) {
                more = ++at[axis] < axes_[axis];
                if (!more) at[axis] = 0;
            }
        }
    }
    int operator()(int node, const std::vector<int>& by) {
        const auto at = places_.begin() + first(node);
        for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
            const int place = at[static_cast<std::ptrdiff_t>(axis)] + by[axis];
            to_[axis] = place < axes_[axis] ? place : place - axes_[axis];
        }
        return topology_.node_at(to_);
    }

private:
    [[nodiscard]] std::ptrdiff_t first(int node) const {
        return static_cast<std::ptrdiff_t>(node) * static_cast<std::ptrdiff_t>(axes_.size());
    }

    const Topology& topology_;
    std::vector<int> axes_;
    std::vector<int> to_;
    std::vector<int> places_{};  // of nodes, along the axes
};

// What becomes what by `moved`: for each the first of its round, and how many moves it is from there.
std::vector<std::pair<int, int>> rounds(const std::vector<int>& moved) {
    std::vector<std::pair<int, int>> found(moved.size(), {-1, 0});
    for (std::size_t first = 0; first < moved.size(); ++first) {
        auto at = first;
        for (int moves = 0; found[at].first < 0; ++moves, at = static_cast<std::size_t>(moved[at]))
            found[at] = {static_cast<int>(first), moves};
    }
    return found;
}

class Quotient final : public Topology {
public:
    Quotient(const Topology& whole, std::vector<int> places, const std::vector<int>& by)
        : whole_(whole), places_(std::move(places)) {
        std::vector<int> moved(static_cast<std::size_t>(whole.links()));
        for (Link link = 0; link < whole.links(); ++link)
            moved[static_cast<std::size_t>(link)] = whole.moved(link, by);
        for (const auto& [first, moves] : rounds(moved)) links_.push_back(first);
    }

    [[nodiscard]] int nodes() const override { return whole_.nodes(); }
    [[nodiscard]] Link links() const override { return whole_.links(); }
    [[nodiscard]] int hops(int from, int to) const override { return whole_.hops(from, to); }
    [[nodiscard]] int diameter() const override { return whole_.diameter(); }
    [[nodiscard]] double width(Link link) const override { return whole_.width(link); }
    [[nodiscard]] bool uniform() const override { return whole_.uniform(); }
    [[nodiscard]] std::pair<int, int> ends(Link link) const override { return whole_.ends(link); }
    [[nodiscard]] int variants(int from, int to) const override { return whole_.variants(from, to); }
    void route(int from, int to, int variant, std::vector<Link>& route) const override {
        const std::size_t before = route.size();
        whole_.route(from, to, variant, route);
        for (std::size_t i = before; i < route.size(); ++i) route[i] = link(route[i]);
    }
    [[nodiscard]] RouteEnds route_ends(int from, int to) const override {
        RouteEnds ends = whole_.route_ends(from, to);
        ends.first = link(ends.first);
        ends.last = link(ends.last);
        return ends;
    }
    [[nodiscard]] std::vector<int> coordinates(int node) const override { return whole_.coordinates(node); }
    [[nodiscard]] int node_at(const std::vector<int>& at) const override { return whole_.node_at(at); }
    [[nodiscard]] std::vector<int> axes() const override { return whole_.axes(); }
    [[nodiscard]] bool grid() const override { return whole_.grid(); }
    [[nodiscard]] int place(int node) const override { return places_[static_cast<std::size_t>(node)]; }

private:
    [[nodiscard]] Link link(Link of_whole) const { return links_[static_cast<std::size_t>(of_whole)]; }

    const Topology& whole_;
    std::vector<int> places_;
    std::vector<Link> links_{};  // the number that each has here
};

}  // namespace

std::optional<Symmetry> Symmetry::find(const Topology& topology, const std::vector<Placement>& placements,
                                       int period) {
    const int ranks = static_cast<int>(placements.size());
    if (period < 1) return std::nullopt;
    const std::vector<int> axes = topology.axes();
    const auto node = [&](int rank) { return placements[static_cast<std::size_t>(rank)].node; };
    const std::vector<int> first = topology.coordinates(node(0));
    std::optional<Moves> moved;
    for (int step = period; 2 * step <= ranks; step += period) {
        if (ranks % step != 0) continue;
        std::vector<int> by = topology.coordinates(node(step));
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            by[axis] = (by[axis] - first[axis] + axes[axis]) % axes[axis];
        if (!topology.moves(by)) continue;
        if (!moved) moved.emplace(topology);
        int rank = 0;
        for (; rank < ranks; ++rank) {
            const Placement& from = placements[static_cast<std::size_t>(rank)];
            const Placement& to = placements[static_cast<std::size_t>((rank + step) % ranks)];
            if ((*moved)(from.node, by) != to.node || from.core != to.core) break;
        }
        if (rank < ranks) continue;
        std::vector<int> nodes(static_cast<std::size_t>(topology.nodes()));
        for (int each = 0; each < topology.nodes(); ++each)
            nodes[static_cast<std::size_t>(each)] = (*moved)(each, by);
        Symmetry found;
        found.ranks_ = ranks;
        found.step_ = step;
        std::vector<int> places;  // of nodes: the first that becomes it
        for (const auto& [place, moves] : rounds(nodes)) {
            places.push_back(place);
            found.behind_.push_back(moves * step);
        }
        found.quotient_ = std::make_shared<Quotient>(topology, std::move(places), by);
        return found;
    }
    return std::nullopt;
}

}  // namespace leadline::machine
