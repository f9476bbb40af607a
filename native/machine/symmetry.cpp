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
    // `links`: the number that each has here.
    Quotient(const Topology& whole, std::vector<int> places, std::vector<Link> links)
        : whole_(whole), places_(std::move(places)), links_(std::move(links)) {}

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
    [[nodiscard]] bool folded() const override { return true; }
    [[nodiscard]] int place(int node) const override { return places_[static_cast<std::size_t>(node)]; }

private:
    [[nodiscard]] Link link(Link of_whole) const { return links_[static_cast<std::size_t>(of_whole)]; }

    const Topology& whole_;
    std::vector<int> places_;
    std::vector<Link> links_;
};

// The links of a topology whose nodes move so: of those that become each other the first.
std::vector<Link> first_links(const Topology& topology, const Motion& motion) {
    std::vector<int> moved(static_cast<std::size_t>(topology.links()));
    for (Link link = 0; link < topology.links(); ++link)
        moved[static_cast<std::size_t>(link)] = topology.moved(link, motion);
    std::vector<Link> all;
    all.reserve(moved.size());
    for (const auto& [first, moves] : rounds(moved)) all.push_back(first);
    return all;
}

bool even(int length) { return length % 2 == 0; }

// By how much nodes may be moved along an axis: that, twice as much, or no less than round it.
int least_move(const Topology& topology, std::size_t axis, int least) {
    Motion motion{.by = std::vector<int>(topology.axes().size())};
    const int length = topology.axes()[axis];
    for (const int step : {least, 2 * least}) {
        motion.by[axis] = step;
        if (step < length && length % step == 0 && topology.moves(motion)) return step;
    }
    return length;
}

// Whether every node becomes every other on the axes of even length, where one whose coordinates there have
// an odd sum is mirrored.
bool all_alike(const Topology& topology) {
    const std::vector<int> axes = topology.axes();
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        Motion motion{.by = std::vector<int>(axes.size()), .mirrored = true};
        if (!even(axes[axis])) continue;
        motion.by[axis] = 1;
        if (!topology.moves(motion)) return false;
        motion = {.by = std::move(motion.by)};
        motion.by[axis] = 2 % axes[axis];
        if (!topology.moves(motion)) return false;
    }
    return std::ranges::any_of(axes, even);
}

}  // namespace

std::optional<int> ranks_on_each(const Topology& topology, const std::vector<Placement>& placements) {
    const auto nodes = static_cast<std::size_t>(topology.nodes());
    const std::size_t each = placements.size() / nodes;
    if (each == 0 || each * nodes != placements.size()) return std::nullopt;
    std::vector<bool> taken(placements.size());
    for (const Placement& at : placements) {
        if (std::cmp_greater_equal(at.core, each)) return std::nullopt;
        const auto place = static_cast<std::size_t>(at.node) * each + static_cast<std::size_t>(at.core);
        if (taken[place]) return std::nullopt;
        taken[place] = true;
    }
    return static_cast<int>(each);
}

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
        Motion motion{.by = topology.coordinates(node(step))};
        for (std::size_t axis = 0; axis < axes.size(); ++axis)
            motion.by[axis] = (motion.by[axis] - first[axis] + axes[axis]) % axes[axis];
        if (!topology.moves(motion)) continue;
        if (!moved) moved.emplace(topology);
        int rank = 0;
        for (; rank < ranks; ++rank) {
            const Placement& from = placements[static_cast<std::size_t>(rank)];
            const Placement& to = placements[static_cast<std::size_t>((rank + step) % ranks)];
            if ((*moved)(from.node, motion.by) != to.node || from.core != to.core) break;
        }
        if (rank < ranks) continue;
        std::vector<int> nodes(static_cast<std::size_t>(topology.nodes()));
        for (int each = 0; each < topology.nodes(); ++each)
            nodes[static_cast<std::size_t>(each)] = (*moved)(each, motion.by);
        Symmetry found;
        found.ranks_ = ranks;
        found.step_ = step;
        std::vector<int> places;  // of nodes: the first that becomes it
        for (const auto& [place, moves] : rounds(nodes)) {
            places.push_back(place);
            found.behind_.push_back(moves * step);
        }
        found.quotient_ =
            std::make_shared<Quotient>(topology, std::move(places), first_links(topology, motion));
        return found;
    }
    return std::nullopt;
}

// New numbers: the rank's number on its node; the node's place within the smallest move, the first axis
// slowest; and by how many moves it is away, the same way. A node that is mirrored comes back to where it was
// by the same motion.
std::optional<Symmetry> Symmetry::by_axes(const Topology& topology,
                                          const std::vector<Placement>& placements) {
    if (!topology.grid()) return std::nullopt;
    const auto each = ranks_on_each(topology, placements);
    if (!each) return std::nullopt;
    const std::vector<int> axes = topology.axes();
    std::vector<int> steps;
    Symmetry found;
    found.ranks_ = static_cast<int>(placements.size());
    found.step_ = *each;
    found.mirrored_ = all_alike(topology);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const bool alike = found.mirrored_ && even(axes[axis]);
        steps.push_back(alike ? 1 : least_move(topology, axis, even(axes[axis]) ? 2 : 1));
        found.step_ *= steps[axis];
        found.moves_.push_back(axes[axis] / steps[axis]);
    }
    if (found.step_ == found.ranks_) return std::nullopt;
    found.renumbered_.resize(placements.size());
    std::vector<int> places;
    std::vector<Motion> back;  // of nodes, to where it stands for others
    for (int node = 0; node < topology.nodes(); ++node) {
        std::vector<int> at = topology.coordinates(node);
        int low = 0;
        int high = 0;
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            low = low * steps[axis] + at[axis] % steps[axis];
            high = high * found.moves_[axis] + at[axis] / steps[axis];
        }
        Motion motion{.by = std::vector<int>(axes.size()), .mirrored = found.mirrors(high)};
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            const int low_end = at[axis] % steps[axis];
            motion.by[axis] =
                motion.mirrors(axes[axis]) ? at[axis] : (axes[axis] - at[axis] + low_end) % axes[axis];
            at[axis] = low_end;
        }
        const auto first = found.renumbered_.begin() + (high * found.step_ + low * *each);
        for (int core = 0; core < *each; ++core) first[core] = {node, core};
        places.push_back(topology.node_at(at));
        found.behind_.push_back(high * found.step_);
        back.push_back(std::move(motion));
    }
    std::vector<Link> links;
    links.reserve(static_cast<std::size_t>(topology.links()));
    for (Link link = 0; link < topology.links(); ++link)
        links.push_back(topology.moved(link, back[static_cast<std::size_t>(topology.ends(link).first)]));
    found.quotient_ = std::make_shared<Quotient>(topology, std::move(places), std::move(links));
    return found;
}

// Whether the move of that number, along all axes, mirrors.
bool Symmetry::mirrors(int move) const {
    if (!mirrored_) return false;
    int odd = 0;
    for (std::size_t axis = moves_.size(); axis-- > 0;) {
        if (even(moves_[axis])) odd ^= move % moves_[axis] % 2;
        move /= moves_[axis];
    }
    return odd != 0;
}

int Symmetry::seen_along_axes(int rank, int before) const {
    int at = rank / step_;
    int by = before / step_;
    const bool mirrored = mirrors(by);
    int found = 0;
    int stride = step_;
    for (std::size_t axis = moves_.size(); axis-- > 0;) {
        const int length = moves_[axis];
        const int ahead = at % length - by % length;
        const int here = mirrored && even(length) ? -ahead : ahead;
        found += (here < 0 ? here + length : here) * stride;
        stride *= length;
        at /= length;
        by /= length;
    }
    return found + rank % step_;
}

}  // namespace leadline::machine
