// A tree of switches, each joined to several above it:
//   {"kind": "fat-tree", "arity": [18, 36], "up": [18], "width": [1, 1], "nodes": 500}
// arity  children of a switch, from the leaf switches up: 18 nodes a leaf, 36 leaves below the top. A full
// tree
//        has the product of nodes.
// up     cables from a switch to as many switches above it, from the leaf switches up; one number fewer, as
// the
//        top has none. Without the key, as many as down; a leaf of 24 nodes tapered 2:1 has 12. A node has
//        one.
// width  a cable's capacity as a multiple of the link rate, from the nodes' cables up; without the key, 1.
// nodes  only the first so many; without the key, all. Switches and levels that these do not need are left
// out.
//
// It is the extended generalised fat tree of Öhring et al. (IPPS 1995). A switch of level l is (a, b): it
// stands above the nodes whose number divided by arity[0] * .. * arity[l - 1] is a, and is the b-th of W(l) =
// up[0] * ..
// * up[l - 2] that do. The cables between levels l and l + 1 are as many as the pairs of an a of level l and
// a b of level l + 1; the lower end's b is the upper one's modulo W(l).
//
// Routes up are those of D-mod-k (Zahavi, J. Parallel Distrib. Comput. 2012), by the destination's number: on
// level l they pass the switch with b = destination modulo W(l). A permutation that shifts all nodes alike
// then has no two messages on a link of a tree that is not tapered. An adaptive message may take any switch
// of the level where it turns; of these, no more than `most_variants` are offered, spread evenly.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "machine/topologies/parts.hpp"

namespace leadline::machine {
namespace {

constexpr std::size_t most_levels = 16;
constexpr int most_variants = 16;

// The cables between a level and the next above it; level 0 are the nodes.
struct Level {
    int below = 0;     // different a of the lower ends
    Divider arity;     // of the upper ends
    Divider above;     // different b of the upper ends
    Link first = 0;    // of the links: all up, then all down
    int switches = 0;  // the first of the upper ends, among all ends
    double width = 1;
};

class FatTree final : public Topology {
public:
    FatTree(const std::vector<int>& arity, const std::vector<int>& up, const std::vector<double>& width,
            int nodes)
        : nodes_(nodes) {
        std::int64_t links = 0, ends = nodes;
        int below = nodes, above = 1;
        for (std::size_t i = 0; below > 1; ++i) {
            if (i > 0) above = product({above, up[i - 1]}, "switches");
            Level level{
                below,   Divider(arity[i]), Divider(above), static_cast<Link>(links), static_cast<int>(ends),
                width[i]};
            links = count_links({links, 2 * static_cast<std::int64_t>(below) * above});
            levels_.push_back(level);
            below = (below - 1) / arity[i] + 1;
            ends += static_cast<std::int64_t>(below) * above;
        }
        links_ = static_cast<Link>(links);
    }

    [[nodiscard]] int nodes() const override { return nodes_; }
    [[nodiscard]] Link links() const override { return links_; }
    [[nodiscard]] int diameter() const override { return 2 * static_cast<int>(levels_.size()); }
    [[nodiscard]] int hops(int from, int to) const override { return 2 * static_cast<int>(climb(from, to)); }
    [[nodiscard]] double width(Link link) const override { return levels_[level_of(link)].width; }

    [[nodiscard]] std::pair<int, int> ends(Link link) const override {
        const std::size_t i = level_of(link);
        const Level& level = levels_[i];
        const int cables = level.below * level.above.by();
        const int cable = (link - level.first) % cables;
        const int a = level.above.quotient(cable), b = level.above.rest(cable);
        const int upper = level.switches + level.arity.quotient(a) * level.above.by() + b;
        int lower = a;
        if (i > 0) {
            const Level& next = levels_[i - 1];
            lower = next.switches + a * next.above.by() + next.above.rest(b);
        }
        if (link - level.first < cables) return {lower, upper};
        return {upper, lower};
    }

    [[nodiscard]] int variants(int from, int to) const override {
        const std::size_t turn = climb(from, to);
        return turn == 0 ? 1 : std::min(most_variants, levels_[turn - 1].above.by());
    }

    void route(int from, int to, int variant, std::vector<Link>& route) const override {
        const int by = variant == 0 ? to : shifted(from, to, variant);
        std::array<Link, most_levels> down{};
        std::size_t turn = 0;
        for (; from != to; ++turn) {
            const Level& level = levels_[turn];
            const int above = level.above.by(), b = level.above.rest(by);
            route.push_back(level.first + from * above + b);
            down[turn] = level.first + (level.below + to) * above + b;
            from = level.arity.quotient(from);
            to = level.arity.quotient(to);
        }
        while (turn > 0) route.push_back(down[--turn]);
    }

    [[nodiscard]] std::vector<int> coordinates(int node) const override { return {node}; }
    [[nodiscard]] int node_at(const std::vector<int>& coordinates) const override {
        return coordinates.front();
    }
    [[nodiscard]] std::vector<int> axes() const override { return {nodes_}; }

    // By whole trees below the top, of which none lacks nodes, with no change of the switch that routes up
    // pass.
    [[nodiscard]] bool moves(const Motion& motion) const override {
        if (motion.mirrored) return false;
        const int by = motion.by[0];
        int tree = 1;
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            const int above = levels_[i].above.by();
            if (by % above != 0 || nodes_ % above != 0) return false;
            if (i + 1 < levels_.size()) tree *= levels_[i].arity.by();
        }
        return by % tree == 0 && nodes_ % tree == 0;
    }

    [[nodiscard]] Link moved(Link link, const Motion& motion) const override {
        const std::size_t at = level_of(link);
        const Level& level = levels_[at];
        const int cables = level.below * level.above.by();
        const int down = (link - level.first) / cables, cable = (link - level.first) % cables;
        int shift = motion.by[0];
        for (std::size_t i = 0; i < at; ++i) shift /= levels_[i].arity.by();
        const int a = (level.above.quotient(cable) + shift) % level.below;
        return level.first + down * cables + a * level.above.by() + level.above.rest(cable);
    }

private:
    // The level of the lowest switches that stand above both.
    [[nodiscard]] std::size_t climb(int from, int to) const {
        std::size_t level = 0;
        for (; from != to; ++level) {
            from = levels_[level].arity.quotient(from);
            to = levels_[level].arity.quotient(to);
        }
        return level;
    }

    // What stands for the destination's number in another variant: it turns at another switch.
    [[nodiscard]] int shifted(int from, int to, int variant) const {
        const Divider& tops = levels_[climb(from, to) - 1].above;
        const int apart = tops.by() / std::min(most_variants, tops.by());
        return tops.rest(tops.rest(to) + variant * apart);
    }

    [[nodiscard]] std::size_t level_of(Link link) const {
        std::size_t i = levels_.size() - 1;
        while (link < levels_[i].first) --i;
        return i;
    }

    int nodes_;
    Link links_ = 0;
    std::vector<Level> levels_;  // as many as these nodes need
};

std::vector<int> read_up(const nlohmann::json& from, const std::vector<int>& arity) {
    if (!from.contains("up")) return {arity.begin(), arity.end() - 1};
    if (arity.size() == 1 && from.at("up") == nlohmann::json::array()) return {};
    auto up = read_counts(from, "up", most_levels);
    if (up.size() + 1 != arity.size())
        refuse_topology("up has one number fewer than arity, but got " + from.at("up").dump() + " beside " +
                        from.at("arity").dump());
    return up;
}

std::unique_ptr<Topology> make_fat_tree(const nlohmann::json& from) {
    const auto arity = read_counts(from, "arity", most_levels);
    const int full = product(arity, "nodes");
    const int nodes = from.contains("nodes") ? read_count(from, "nodes") : full;
    if (nodes > full)
        refuse_topology("nodes is at most " + std::to_string(full) + ", those of the full tree, but got " +
                        std::to_string(nodes));
    return std::make_unique<FatTree>(arity, read_up(from, arity), read_widths(from, "width", arity.size()),
                                     nodes);
}

const TopologyKind fat_tree("fat-tree", make_fat_tree);

}  // namespace
}  // namespace leadline::machine
