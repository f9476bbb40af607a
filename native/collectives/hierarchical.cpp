// Hierarchical: inside each node first, then between the nodes' first ranks, so that as few messages as can
// be leave a node (Karonis, de Supinski, Foster, Gropp, Lusk and Bresnahan, Exploiting Hierarchy in Parallel
// Computer Networks to Optimize Collective Operation Performance, 2000).
#include <algorithm>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

// The nodes of the ranks, and of them the first ranks.
struct Nodes {
    explicit Nodes(const AlgorithmArguments& asked)
        : ranks(asked.ranks),
          per_node(std::clamp(asked.per_node, 1, asked.ranks)),
          count((ranks + per_node - 1) / per_node) {}
    std::int32_t ranks;
    std::int32_t per_node;
    std::int32_t count;

    [[nodiscard]] Members leaders() const { return {.first = 0, .count = count, .step = per_node}; }
    // On every node that has both, a message from one to another of its ranks.
    [[nodiscard]] Row on_each(std::int32_t from, std::int32_t to) const {
        const std::int32_t having = (ranks - std::max(from, to) + per_node - 1) / per_node;
        return {.from = from, .to = to, .count = having, .from_step = per_node, .to_step = per_node};
    }
};

// A binomial tree on every node, from its first rank.
std::vector<Stage> inside_down(const Nodes& nodes, const Stage& like) {
    std::vector<Stage> all;
    for (std::int32_t reach = power_from(nodes.per_node) / 2; reach > 0; reach /= 2) {
        Stage stage = like;
        for (std::int32_t from = 0; from + reach < nodes.per_node; from += 2 * reach)
            stage.rows.push_back(nodes.on_each(from, from + reach));
        all.push_back(std::move(stage));
    }
    return all;
}
std::vector<Stage> inside_up(const Nodes& nodes, const Stage& like) {
    return turned_round(inside_down(nodes, like));
}

// The rows between the first `nodes.count` numbers, as rows between the nodes' first ranks that begin at node
// `first` and beyond the last node go on with node 0.
std::vector<Row> from_node(const Nodes& nodes, std::int32_t first, const std::vector<Row>& rows) {
    std::vector<Row> all;
    for (const Row& row : rows)
        for (std::int32_t i = 0; i < row.count;) {
            const std::int32_t from = modulo(first + row.from + i * row.from_step, nodes.count);
            const std::int32_t to = modulo(first + row.to + i * row.to_step, nodes.count);
            const std::int32_t fit =
                std::min((nodes.count - 1 - from) / row.from_step, (nodes.count - 1 - to) / row.to_step);
            all.push_back({.from = from * nodes.per_node,
                           .to = to * nodes.per_node,
                           .count = std::min(fit + 1, row.count - i),
                           .from_step = row.from_step * nodes.per_node,
                           .to_step = row.to_step * nodes.per_node});
            i += all.back().count;
        }
    return all;
}

// From the root to all; or, up, from all to the root.
std::vector<Stage> down(const AlgorithmArguments& asked, const Stage& like) {
    const Nodes nodes(asked);
    const std::int32_t node = asked.root / nodes.per_node;
    std::vector<Stage> all;
    if (asked.root % nodes.per_node != 0) {
        all.push_back(like);
        all.back().rows = {{asked.root, node * nodes.per_node}};
    }
    for (Stage& stage : tree_down({.first = 0, .count = nodes.count}, like)) {
        stage.rows = from_node(nodes, node, stage.rows);
        all.push_back(std::move(stage));
    }
    append(all, inside_down(nodes, like));
    return all;
}

std::vector<Stage> bcast_stages(const AlgorithmArguments& asked) {
    return down(asked, {.bytes = asked.bytes, .carries = whole});
}

std::vector<Stage> reduce_stages(const AlgorithmArguments& asked) {
    std::vector<Stage> all =
        turned_round(down(asked, {.bytes = asked.bytes, .combines = true, .carries = whole}));
    // What comes to the root at last has its own share in it.
    if (asked.root % Nodes(asked).per_node != 0) all.back().combines = false;
    return all;
}

std::vector<Stage> barrier_stages(const AlgorithmArguments& asked) {
    const Nodes nodes(asked);
    std::vector<Stage> all = inside_up(nodes, {});
    append(all, doubling(nodes.leaders(), {}));
    append(all, inside_down(nodes, {}));
    return all;
}

// On every node each rank tells the one `by` beyond it and goes on with the first behind the last; the last
// node may have fewer ranks.
std::vector<Stage> disseminating(const Nodes& nodes) {
    const std::int32_t full = nodes.ranks / nodes.per_node;
    const std::int32_t rest = nodes.ranks % nodes.per_node;
    std::vector<Stage> all;
    for (std::int32_t by = 1; by < nodes.per_node; by *= 2) {
        Stage stage;
        for (std::int32_t from = 0; from < nodes.per_node && full > 0; ++from)
            stage.rows.push_back({.from = from,
                                  .to = (from + by) % nodes.per_node,
                                  .count = full,
                                  .from_step = nodes.per_node,
                                  .to_step = nodes.per_node});
        const std::int32_t last = full * nodes.per_node;
        for (std::int32_t from = 0; from < rest && by < rest; ++from)
            stage.rows.push_back({.from = last + from, .to = last + (from + by) % rest});
        all.push_back(std::move(stage));
    }
    return all;
}

// As MPICH 4 has it: all on a node know of each other before their first rank goes on for them.
std::vector<Stage> disseminating_barrier_stages(const AlgorithmArguments& asked) {
    const Nodes nodes(asked);
    std::vector<Stage> all = disseminating(nodes);
    append(all, doubling(nodes.leaders(), {}));
    append(all, inside_down(nodes, {}));
    return all;
}

// Between nodes a message is worth halving from where it lasts longer than it takes to start.
bool halves(const AlgorithmArguments& asked) {
    constexpr std::int64_t short_message = 2048;
    return asked.bytes > short_message;
}
std::int32_t allreduce_parts(const AlgorithmArguments& asked) {
    return halves(asked) ? power_below(Nodes(asked).count) : 1;
}
std::vector<Stage> allreduce_stages(const AlgorithmArguments& asked) {
    const Nodes nodes(asked);
    Stage like{.bytes = asked.bytes,
               .combines = true,
               .carries = [parts = allreduce_parts(asked)](std::int32_t) { return range(0, parts, parts); }};
    std::vector<Stage> all = inside_up(nodes, like);
    append(all, halves(asked) ? halving(nodes.leaders(), asked, true) : doubling(nodes.leaders(), like));
    like.combines = false;
    append(all, inside_down(nodes, like));
    return all;
}

// To the node's first rank, between those as Bruck does, and to all on the node.
std::vector<Stage> allgather_stages(const AlgorithmArguments& asked) {
    const Nodes nodes(asked);
    std::vector<Stage> all;
    for (std::int32_t core = 1; core < nodes.per_node; ++core)
        all.push_back({.bytes = asked.bytes,
                       .rows = {nodes.on_each(core, 0)},
                       .carries = [](std::int32_t from) -> Blocks { return {from}; }});
    for (std::int64_t by = 1; by < nodes.count; by *= 2) {
        const auto count = static_cast<std::int32_t>(std::min(by, nodes.count - by));
        const auto back = static_cast<std::int32_t>(nodes.count - by);
        all.push_back({.bytes = static_cast<std::int64_t>(count) * nodes.per_node * asked.bytes,
                       .rows = from_node(nodes, 0, {{.from = 0, .to = back, .count = nodes.count}}),
                       .carries = [nodes, count](std::int32_t from) {
                           Blocks blocks;
                           for (const std::int32_t node : range(from / nodes.per_node, count, nodes.count)) {
                               const std::int32_t first = node * nodes.per_node;
                               const std::int32_t end = std::min(first + nodes.per_node, nodes.ranks);
                               for (std::int32_t rank = first; rank < end; ++rank) blocks.push_back(rank);
                           }
                           return blocks;
                       }});
        const std::int32_t lacks = nodes.count * nodes.per_node - nodes.ranks;  // ranks, on the last node
        if (lacks > 0)
            all.back().holds = [nodes, count, lacks](std::int32_t from) {
                const bool last = from / nodes.per_node + count >= nodes.count;
                return count * nodes.per_node - (last ? lacks : 0);
            };
    }
    append(all, inside_down(nodes, {.bytes = asked.ranks * asked.bytes,
                                    .carries = [ranks = nodes.ranks](std::int32_t) {
                                        return range(0, ranks, ranks);
                                    }}));
    return all;
}

const Entered allgather({"allgather", "hierarchical", allgather_stages});
const Entered allreduce({"allreduce", "hierarchical", allreduce_stages, allreduce_parts});
const Entered barrier({"barrier", "hierarchical", barrier_stages});
const Entered disseminating_barrier({"barrier", "hierarchical-dissemination", disseminating_barrier_stages});
const Entered bcast({"bcast", "hierarchical", bcast_stages});
const Entered reduce({"reduce", "hierarchical", reduce_stages});

}  // namespace
}  // namespace leadline::collectives
