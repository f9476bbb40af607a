// Node (x, y, z) of a shape [X, Y, Z] is (x * Y + y) * Z + z. Its ports are node * 2 * axes + 2 * axis for
// the way of growing coordinates and the next number for the other way; each is the link that leaves by it.
// At the end of a line, and on an axis of length 1, a port has no cable and width 0.
//
// A route goes axis by axis, each the shorter way round. Where both ways are as long, `ties` decides: by
// "parity" a source whose coordinates have an even sum goes the growing way and the others the other way, so
// that both are loaded alike; "growing" has all go the growing way, as routers do that compare distances. A
// ring of two nodes has two cables, which the same rule shares out; adaptive routing may take either.
#include "machine/topologies/grid.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "machine/topologies/parts.hpp"

namespace leadline::machine {
namespace {

constexpr std::size_t most_axes = 6;  // of any machine built so far (Tofu); 720 orders of axes

struct Axis {
    int length = 1;
    Divider stride;  // from a node to its neighbour on this axis
};

// A route's part on one axis.
struct Leg {
    int axis = 0;
    int at = 0;     // coordinate where it begins
    int to = 0;     // and ends
    int steps = 0;  // links
    bool grows = true;
};

struct Legs {
    std::array<Leg, most_axes> all;
    int count = 0;
};

class Grid final : public Topology {
public:
    Grid(const std::vector<int>& shape, bool wrap, bool parity)
        : shape_(shape),
          wrap_(wrap),
          parity_(parity),
          ports_(2 * static_cast<int>(shape.size())),
          nodes_(product(shape, "nodes")),
          links_(count_links({static_cast<std::int64_t>(nodes_) * ports_})) {
        int stride = nodes_;
        for (const int length : shape) axes_.push_back({length, Divider(stride /= length)});
    }

    [[nodiscard]] int nodes() const override { return nodes_; }
    [[nodiscard]] Link links() const override { return links_; }
    [[nodiscard]] std::vector<int> axes() const override { return shape_; }
    [[nodiscard]] bool grid() const override { return true; }

    [[nodiscard]] int hops(int from, int to) const override {
        int sum = 0;
        for (const Axis& axis : axes_) {
            const int at = take(axis, from), goal = take(axis, to);
            const int line = std::abs(goal - at);
            sum += wrap_ ? std::min(line, axis.length - line) : line;
        }
        return sum;
    }

    [[nodiscard]] int diameter() const override {
        int sum = 0;
        for (const int length : shape_) sum += wrap_ ? length / 2 : length - 1;
        return sum;
    }

    [[nodiscard]] double width(Link link) const override {
        const auto [from, to] = ends(link);
        return from == to ? 0 : 1;
    }

    [[nodiscard]] bool uniform() const override { return true; }

    [[nodiscard]] std::pair<int, int> ends(Link link) const override {
        const int node = link / ports_, port = link % ports_;
        int left = node, at = 0;
        for (int i = 0; i <= port / 2; ++i) at = take(axes_[static_cast<std::size_t>(i)], left);
        const Axis& axis = axes_[static_cast<std::size_t>(port / 2)];
        const int next = at + (port % 2 == 0 ? 1 : -1);
        if (!wrap_ && (next < 0 || next == axis.length)) return {node, node};
        return {node, node + ((next + axis.length) % axis.length - at) * axis.stride.by()};
    }

    // The orders of the axes on which there is a way to go; twice as many where one of them has two cables.
    [[nodiscard]] int variants(int from, int to) const override {
        const Legs legs = plan(from, to);
        return orders(legs.count) * (twofold(legs) ? 2 : 1);
    }

    void route(int from, int to, int variant, std::vector<Link>& route) const override {
        Legs legs = plan(from, to);
        if (variant != 0) choose(legs, variant);
        int steps = 0;
        for (const Leg& leg : legs.all) steps += leg.steps;
        const std::size_t before = route.size();
        route.resize(before + static_cast<std::size_t>(steps));
        Link* place = route.data() + before;
        for (int i = 0; i < legs.count; ++i) {
            const Leg& leg = legs.all[static_cast<std::size_t>(i)];
            place = walk(from, leg, place);
            from += (leg.to - leg.at) * axis_of(leg).stride.by();
        }
    }

    // Without writing down what lies between, which may be hundreds of links. The last link leaves the
    // neighbour of the receiver on the last axis on which there is a way to go. Asked for every message: its
    // parts stay in registers until it is made.
    [[nodiscard]] RouteEnds route_ends(int from, int to) const override {
        int left_from = from, left_to = to, hops = 0, ways = 0;
        Link first = 0, last = 0;  // ports of a node
        const Axis* on = nullptr;
        Leg leg;
        for (const Axis& axis : axes_) {
            const int at = take(axis, left_from), goal = take(axis, left_to);
            if (at != goal) {
                leg = aimed(axis, at, goal, [&] { return !parity_ || even(from); });
                last = ways + (leg.grows ? 0 : 1);
                if (hops == 0) first = last;
                hops += leg.steps;
                on = &axis;
            }
            ways += 2;
        }
        if (!on) return {};
        const bool over = leg.to == (leg.grows ? 0 : on->length - 1);  // the end of the axis
        const int back = (leg.grows ? -1 : 1) * (over ? 1 - on->length : 1);
        return {from * ports_ + first, (to + back * on->stride.by()) * ports_ + last, hops};
    }

    [[nodiscard]] std::vector<int> coordinates(int node) const override {
        std::vector<int> at;
        at.reserve(axes_.size());
        for (const Axis& axis : axes_) at.push_back(take(axis, node));
        return at;
    }

    [[nodiscard]] int node_at(const std::vector<int>& coordinates) const override {
        int node = 0;
        for (std::size_t i = 0; i < axes_.size(); ++i) node += coordinates[i] * axes_[i].stride.by();
        return node;
    }

    // Ties that go by the source's parity stay as they are where no axis changes it, round its end neither;
    // and are mirrored where the mirror changes it.
    [[nodiscard]] bool moves(const Motion& motion) const override {
        bool ties = false, odd = false;
        for (std::size_t i = 0; i < axes_.size(); ++i) {
            const bool tied = axes_[i].length % 2 == 0;
            ties = ties || tied;
            odd = odd != (tied && motion.by[i] % 2 != 0);
        }
        for (std::size_t i = 0; i < axes_.size(); ++i)
            if (motion.by[i] != 0 && (!wrap_ || (parity_ && ties && axes_[i].length % 2 != 0))) return false;
        if (motion.mirrored && ties) return wrap_ && parity_ && odd;
        return !(parity_ && ties && odd);
    }

    [[nodiscard]] Link moved(Link link, const Motion& motion) const override {
        int left = link / ports_, port = link % ports_, node = 0;
        for (std::size_t i = 0; i < axes_.size(); ++i) {
            const bool mirrored = motion.mirrors(axes_[i].length);
            node += motion.moved(i, take(axes_[i], left), axes_[i].length) * axes_[i].stride.by();
            if (mirrored && static_cast<std::size_t>(port / 2) == i) port ^= 1;
        }
        return node * ports_ + port;
    }

private:
    // The coordinate on an axis; what is left of the node's number is for the axes after it.
    static int take(const Axis& axis, int& node) {
        const int at = axis.stride.quotient(node);
        node -= at * axis.stride.by();
        return at;
    }

    static int orders(int axes) {
        int all = 1;
        for (int i = 2; i <= axes; ++i) all *= i;
        return all;
    }

    [[nodiscard]] const Axis& axis_of(const Leg& leg) const {
        return axes_[static_cast<std::size_t>(leg.axis)];
    }
    [[nodiscard]] bool two_cables(const Leg& leg) const { return wrap_ && axis_of(leg).length == 2; }
    [[nodiscard]] bool twofold(const Legs& legs) const {
        return std::any_of(legs.all.begin(), legs.all.begin() + legs.count,
                           [&](const Leg& leg) { return two_cables(leg); });
    }

    [[nodiscard]] Legs plan(int from, int to) const {
        Legs legs;
        const auto grows = [this, from] { return !parity_ || even(from); };
        for (std::size_t i = 0; i < axes_.size(); ++i) {
            const int at = take(axes_[i], from), goal = take(axes_[i], to);
            if (at != goal) {
                Leg& leg = legs.all[static_cast<std::size_t>(legs.count++)];
                leg = aimed(axes_[i], at, goal, grows);
                leg.axis = static_cast<int>(i);
            }
        }
        return legs;
    }

    // Whether the sum of a node's coordinates is.
    [[nodiscard]] bool even(int node) const {
        int sum = 0;
        for (const Axis& axis : axes_) sum += take(axis, node);
        return sum % 2 == 0;
    }

    // The shorter way on an axis; where both are as long, `tied` says whether it grows.
    template <class Tied>
    [[nodiscard]] Leg aimed(const Axis& axis, int at, int to, const Tied& tied) const {
        const int line = to - at;
        Leg leg{.at = at, .to = to, .steps = std::abs(line), .grows = line > 0};
        if (!wrap_) return leg;
        const int other = axis.length - leg.steps;
        if (other == leg.steps) leg.grows = tied();
        if (other >= leg.steps) return leg;
        leg.grows = !leg.grows;
        leg.steps = other;
        return leg;
    }

    // Puts the legs in the order of a variant, counted as words in a dictionary are; in the second half of
    // the variants, rings of two take their other cable.
    void choose(Legs& legs, int variant) const {
        int left = orders(legs.count);
        if (variant >= left) {
            variant -= left;
            for (Leg& leg : legs.all)
                if (two_cables(leg)) leg.grows = !leg.grows;
        }
        for (int i = 0; i + 1 < legs.count; ++i) {
            left /= legs.count - i;
            const auto first = legs.all.begin() + i, chosen = first + variant / left;
            variant %= left;
            std::rotate(first, chosen, chosen + 1);
        }
    }

    // Writes a leg's links, up to where it passes the end of its axis and from there on; gives the next
    // place.
    Link* walk(int node, const Leg& leg, Link* place) const {
        const Axis& axis = axis_of(leg);
        const Link step = axis.stride.by() * ports_ * (leg.grows ? 1 : -1);
        const int ahead = std::min(leg.steps, leg.grows ? axis.length - leg.at : leg.at + 1);
        const Link link = node * ports_ + 2 * leg.axis + (leg.grows ? 0 : 1);
        for (int i = 0; i < ahead; ++i) *place++ = link + i * step;
        for (int i = ahead; i < leg.steps; ++i) *place++ = link + (i - axis.length) * step;
        return place;
    }

    std::vector<int> shape_;
    bool wrap_;
    bool parity_;  // decides ties
    int ports_;    // of a node
    int nodes_;
    Link links_;
    std::vector<Axis> axes_;
};

}  // namespace

std::unique_ptr<Topology> make_grid(const nlohmann::json& description, bool wrap) {
    const std::string ties = description.value("ties", "parity");
    if (ties != "parity" && ties != "growing")
        throw std::invalid_argument("topology: ties is parity or growing, but got " + ties);
    return std::make_unique<Grid>(read_counts(description, "shape", most_axes), wrap, ties == "parity");
}

}  // namespace leadline::machine
