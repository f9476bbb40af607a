#include "collectives/pieces.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace leadline::collectives {

Blocks range(std::int64_t first, std::int32_t count, std::int32_t blocks) {
    Blocks all(static_cast<std::size_t>(count));
    for (auto& each : all) each = modulo(first++, blocks);
    return all;
}

Stage own_block(const AlgorithmArguments& asked) {
    return {.pattern = Stage::Pattern::local,
            .bytes = asked.in_place ? 0 : asked.bytes,
            .carries = [](std::int32_t rank) -> Blocks { return {rank}; },
            .lands = [ranks = asked.ranks](std::int32_t rank) -> Blocks { return {ranks + rank}; }};
}

std::vector<Stage> one_shift_after_another(const AlgorithmArguments& asked) {
    std::vector<Stage> all;
    all.reserve(static_cast<std::size_t>(asked.ranks));
    all.push_back(own_block(asked));
    for (std::int32_t by = asked.lattice ? 0 : 1; by < asked.ranks; ++by) {
        const Shift shift{asked.lattice, asked.ranks, by};
        if (shift.along && shift.along->resting(by) == asked.ranks) continue;
        all.push_back(
            {.pattern = Stage::Pattern::shift,
             .by = by,
             .along = shift.along,
             .bytes = asked.bytes,
             .carries = [shift](std::int32_t from) -> Blocks { return {shift.to(from)}; },
             .lands = [shift](std::int32_t to) -> Blocks { return {shift.ranks + shift.from(to)}; }});
    }
    return all;
}

std::int32_t segments(std::int64_t bytes) {
    constexpr std::int64_t segment = 16'384;
    constexpr std::int64_t most = 128;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>((bytes + segment - 1) / segment, 1, most));
}

Row between(const Members& members, std::int32_t from, std::int32_t by, std::int32_t count,
            std::int32_t every) {
    const std::int32_t sender = members.first + from * members.step;
    return {.from = sender,
            .to = sender + by * members.step,
            .count = count,
            .from_step = every * members.step,
            .to_step = every * members.step};
}

std::vector<Stage> turned_round(std::vector<Stage> all) {
    std::ranges::reverse(all);
    for (auto& stage : all)
        for (auto& row : stage.rows) {
            std::swap(row.from, row.to);
            std::swap(row.from_step, row.to_step);
        }
    return all;
}

std::vector<Stage> tree_down(const Members& members, const Stage& like) {
    std::vector<Stage> all;
    // Those at multiples of 2 * reach have it.
    for (std::int32_t reach = power_from(members.count) / 2; reach > 0; reach /= 2) {
        all.push_back(like);
        const std::int32_t count = (members.count + reach - 1) / (2 * reach);
        all.back().rows = {between(members, 0, reach, count, 2 * reach)};
    }
    return all;
}

std::vector<Stage> tree_up(const Members& members, const Stage& like) {
    return turned_round(tree_down(members, like));
}

std::vector<Stage> blocks_down(const Members& members, const AlgorithmArguments& asked, std::int64_t bytes,
                               std::int32_t block) {
    std::vector<Stage> all;
    const std::int32_t count = members.count;
    for (std::int32_t reach = power_from(count) / 2; reach > 0; reach /= 2) {
        // Whichever way a message goes, it holds the blocks of the farther rank's subtree.
        const auto below = [=, ranks = asked.ranks](std::int32_t rank) {
            const std::int32_t place = members.place(rank, ranks);
            const std::int32_t top = place % (2 * reach) == 0 ? place + reach : place;
            return range(block + top, std::min(reach, count - top), count);
        };
        // Subtrees are equal but for the last, which may have fewer ranks; it is a stage by itself.
        const std::int32_t full = count / (2 * reach);
        const std::int32_t rest = count - full * 2 * reach - reach;
        if (full > 0)
            all.push_back({.bytes = share(bytes, count, reach),
                           .rows = {between(members, 0, reach, full, 2 * reach)},
                           .carries = below});
        if (rest > 0)
            all.push_back({.bytes = share(bytes, count, rest),
                           .rows = {between(members, full * 2 * reach, reach, 1)},
                           .carries = below});
    }
    return all;
}

std::vector<Stage> doubling(const Members& members, const Stage& like) {
    std::vector<Stage> all = fold(members, like);
    for (std::int32_t by = 1; by < power_below(members.count); by *= 2) {
        Stage stage = like;
        stage.pattern = Stage::Pattern::exchange;
        stage.by = by;
        stage.ranks = power_below(members.count);
        stage.first = members.first;
        stage.step = members.step;
        all.push_back(std::move(stage));
    }
    Stage back = like;
    back.combines = false;
    append(all, unfold(members, back));
    return all;
}

std::vector<Stage> fold(const Members& members, Stage like) {
    const std::int32_t power = power_below(members.count);
    if (power == members.count) return {};
    like.rows = {between(members, power, -power, members.count - power)};
    return {std::move(like)};
}

std::vector<Stage> unfold(const Members& members, Stage like) {
    const std::int32_t power = power_below(members.count);
    if (power == members.count) return {};
    like.rows = {between(members, 0, power, members.count - power)};
    return {std::move(like)};
}

namespace {

// What is left to a member once it has halved with partners at distances below `distance`.
struct Kept {
    std::int32_t first;
    std::int32_t count;
};
Kept kept(std::int32_t place, std::int32_t distance, std::int32_t power) {
    Kept left{.first = 0, .count = power};
    for (std::int32_t bit = 1; bit < distance; bit *= 2) {
        left.count /= 2;
        if ((place & bit) != 0) left.first += left.count;
    }
    return left;
}

}  // namespace

std::vector<Stage> halving(const Members& members, const AlgorithmArguments& asked, bool to_all) {
    const std::int32_t power = power_below(members.count);
    const Choose everything = [=](std::int32_t) { return range(0, power, power); };
    std::vector<Stage> all = fold(members, {.bytes = asked.bytes, .combines = true, .carries = everything});
    const auto stage = [&](std::int32_t by, bool combines) {
        return Stage{.pattern = Stage::Pattern::exchange,
                     .by = by,
                     .ranks = power,
                     .first = members.first,
                     .step = members.step,
                     .bytes = share(asked.bytes, power, power / (2 * by)),
                     .combines = combines,
                     // What its partner keeps while there is halved, then what it has kept itself.
                     .carries = [=, ranks = asked.ranks](std::int32_t from) {
                         const std::int32_t place = members.place(from, ranks);
                         const Kept part = kept(combines ? place ^ by : place, 2 * by, power);
                         return range(part.first, part.count, power);
                     }};
    };
    for (std::int32_t by = 1; by < power; by *= 2) all.push_back(stage(by, true));
    for (std::int32_t by = power / 2; by > 0; by /= 2) {
        all.push_back(stage(by, false));
        if (to_all) continue;
        all.back().pattern = Stage::Pattern::listed;
        all.back().rows = {between(members, by, -by, by)};
    }
    if (to_all) append(all, unfold(members, {.bytes = asked.bytes, .carries = everything}));
    return all;
}

void append(std::vector<Stage>& all, std::vector<Stage> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace leadline::collectives
