// Collectives of a described machine: the last rank to come has one computed for all.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "comm/sim/world.hpp"
#include "machine/hardware.hpp"
#include "machine/stages.hpp"

namespace leadline::sim {
namespace {

std::int64_t mean(Layout parts, int ranks) {
    const auto all = std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                                     [](std::int64_t sum, const Part& part) { return sum + part.bytes; });
    return (all + ranks - 1) / ranks;
}

// What a rank waits for, in a deadlock's sentence.
const char* stands(Collective what) {
    constexpr std::array<const char*, 12> sentences{
        "in a barrier",        "in a bcast",   "in a reduce",        "in an allreduce",
        "in a gather",         "in a scatter", "in an allgather",    "in an alltoall",
        "in a reduce_scatter", "in a scan",    "for its neighbours", "for its neighbours"};
    return sentences.at(static_cast<std::size_t>(what));
}

// Whether hardware may serve: nobody has said how it is to be done, and nobody but the program itself knows
// what an operation of its own does.
bool plain(const Asked& asked) {
    return asked.algorithm.empty() && asked.reduce != Reduce::user && asked.parts.empty();
}

machine::Call call_of(const Due& due) {
    return {.operation = name_of(due.asked.what),
            .whole = due.group->whole,
            .root = due.asked.root,
            .bytes = due.asked.bytes,
            .floating = due.asked.floating,
            .sums = due.asked.reduce == Reduce::sum};
}

}  // namespace

// Where blocks vary and yet every stage moves blocks of many ranks, they count as their mean: of an allgather
// or a reduce_scatter all ranks know the layout, and no rank's message is far from it after a stage or two.
Asked asked_by(const Call& call, int ranks) {
    Asked asked{.what = call.what,
                .root = call.root,
                .floating = call.type == Type::float32 || call.type == Type::float64,
                .reduce = call.reduce,
                .algorithm = call.algorithm};
    const auto out = static_cast<std::int64_t>(call.out.size());
    const auto in = static_cast<std::int64_t>(call.in.size());
    switch (call.what) {
        case Collective::barrier: break;
        case Collective::bcast:
        case Collective::scatter: asked.bytes = in; break;
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::scan:
        case Collective::gather: asked.bytes = out; break;
        case Collective::allgather: asked.bytes = call.takes.empty() ? out : mean(call.takes, ranks); break;
        case Collective::reduce_scatter:
            asked.bytes = call.takes.empty() ? out / ranks : mean(call.takes, ranks);
            break;
        case Collective::alltoall: asked.bytes = out / ranks; break;
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall: throw Unsupported("a neighbourhood is no matter of all ranks");
    }
    return asked;
}

const collectives::Algorithm& World::choose(const Asked& asked, int ranks) const {
    const auto operation = name_of(asked.what);
    std::string_view chosen = asked.algorithm;
    if (chosen.empty()) {
        const auto& choices = engine.machine().collectives;
        const auto fits = std::ranges::find_if(choices, [&](const machine::Choice& each) {
            return each.operation == operation && asked.bytes <= each.up_to && ranks <= each.ranks_up_to;
        });
        chosen = fits != choices.end() ? fits->algorithm : collectives::usual(operation, ranks, asked.bytes);
    }
    const auto* algorithm = collectives::find(operation, chosen);
    if (!algorithm)
        throw Unsupported("there is no algorithm '" + std::string(chosen) + "' for " +
                          std::string(operation));
    return *algorithm;
}

bool World::by_network(const Due& due) {
    if (!plain(due.asked) || !machine::by_network(engine.machine(), call_of(due), *due.clocks)) return false;
    answered.insert("hardware");
    return true;
}

bool World::has_box(Group& group) const {
    if (!group.box) {
        std::vector<int> nodes(static_cast<std::size_t>(group.ranks));
        for (int rank = 0; rank < group.ranks; ++rank)
            nodes[static_cast<std::size_t>(rank)] = engine.seat(group.world_rank(rank)).node;
        group.box = machine::box_of(engine.topology(), nodes);
    }
    return group.box->has_value();
}

std::vector<Due> World::by_lines(const std::vector<Due>& together) {
    std::vector<Due> others;
    std::vector<Due> along;
    for (const Due& due : together) {
        const bool lines =
            plain(due.asked) && machine::goes_by_lines(engine.machine(), call_of(due)) && has_box(*due.group);
        (lines ? along : others).push_back(due);
    }
    for (const Due& due : along) {
        const machine::Box& box = **due.group->box;
        const auto sharing =
            std::ranges::count_if(along, [&](const Due& each) { return (*each.group->box)->meets(box); });
        machine::by_lines(engine, box, static_cast<int>(sharing), call_of(due), *due.clocks);
        answered.insert("hardware");
    }
    for (const Due& due : along) settle(due);
    return others;
}

// ---------------------------------------------------------------------------------------- coming together

void World::stop_for(Group& group, int rank, std::coroutine_handle<> handle, const Call& call) {
    const int world = group.world_rank(rank);
    engine.enter(world);
    if (rank == call.root && call.what == Collective::gather) group.blocks = call.takes;
    if (rank == call.root && call.what == Collective::scatter) group.blocks = call.gives;
    if (!all_here(group, rank)) {
        engine.park(world, handle, stands(call.what));
        return;
    }
    Due due{.group = &group, .asked = asked_by(call, group.ranks), .clocks = &group.clocks, .begun = nullptr};
    due.asked.parts = std::exchange(group.blocks, {});
    const bool done = by_network(due);
    // Throws into this rank's program for what there is not; which must not be parked then.
    if (!done && due.asked.parts.empty()) static_cast<void>(choose(due.asked, group.ranks));
    engine.park(world, handle, stands(call.what));
    if (done) settle(due);
    else fall_due(due);
}

machine::Operation World::begin(Group& group, int rank, const Call& call) {
    const auto at = static_cast<std::size_t>(rank);
    group.begins.resize(static_cast<std::size_t>(group.ranks));
    const auto turn = static_cast<std::size_t>(group.begins[at]++ - group.settled);
    if (turn >= group.begun.size()) {
        group.begun.push_back(std::make_unique<Begun>(Begun{.asked = asked_by(call, group.ranks)}));
        group.begun.back()->clocks.resize(static_cast<std::size_t>(group.ranks));
        group.begun.back()->operations.resize(static_cast<std::size_t>(group.ranks));
    }
    Begun& begun = *group.begun[turn];
    if (rank == call.root && call.what == Collective::gather) begun.asked.parts = call.takes;
    if (rank == call.root && call.what == Collective::scatter) begun.asked.parts = call.gives;
    const int world = group.world_rank(rank);
    const machine::Operation operation = begun.operations[at] = engine.open(world);
    // On a machine where nothing goes on by itself the rank has come once it next stops for something.
    engine.once_entered(world, [this, &begun, &group, rank] { arrive(begun, group, rank); });
    return operation;
}

void World::arrive(Begun& begun, Group& group, int rank) {
    begun.clocks[static_cast<std::size_t>(rank)] = engine.clock(group.world_rank(rank));
    if (++begun.come < group.ranks) return;
    const Due due{.group = &group, .asked = begun.asked, .clocks = &begun.clocks, .begun = &begun};
    if (by_network(due)) settle(due);
    else fall_due(due);
}

// ---------------------------------------------------------------------------------------- all have come

// Sisters over the same nodes share engines and links: a collective waits until all of them have come to
// theirs, or until nothing else happens that could bring them there.
void World::fall_due(const Due& due) {
    const auto& family = due.group->family;
    if (!family || family->groups == 1 || !due.asked.parts.empty() ||
        machine::Stages::alone(engine, due.asked.bytes)) {
        perform({due});
        return;
    }
    if (family->due.empty()) waiting_.push_back(family);
    family->due.push_back(due);
    if (static_cast<int>(family->due.size()) < family->groups) return;
    std::erase(waiting_, family);
    perform(std::exchange(family->due, {}));
}

bool World::release() {
    if (waiting_.empty()) return false;
    for (const auto& family : std::exchange(waiting_, {})) perform(std::exchange(family->due, {}));
    return true;
}

void World::perform(const std::vector<Due>& all) {
    const auto together = by_lines(all);
    if (together.empty()) return;
    if (!together.front().asked.parts.empty()) {
        for (const Due& due : together) perform_in_turn(due);
        return;
    }
    std::vector<machine::Stages::Part> parts;
    for (const Due& due : together) {
        const auto& algorithm = choose(due.asked, due.group->ranks);
        const auto& members = due.group->members;
        const auto node = [&](int rank) { return engine.seat(due.group->world_rank(rank)).node; };
        int per_node = 1;
        while (per_node < due.group->ranks && node(per_node) == node(0)) ++per_node;
        parts.push_back({.members = members,
                         .clocks = due.clocks,
                         .stages = algorithm.stages({.ranks = due.group->ranks,
                                                     .root = due.asked.root,
                                                     .bytes = due.asked.bytes,
                                                     .per_node = per_node})});
    }
    answered.merge(machine::Stages(engine).run(parts));
    for (const Due& due : together) settle(due);
}

// Blocks that vary are gathered and scattered one by one.
void World::perform_in_turn(const Due& due) {
    std::vector<machine::Stages::Block> blocks;
    for (const Part& part : due.asked.parts) blocks.push_back({part.peer, part.bytes});
    machine::Stages stages(engine);
    const machine::Stages::Part part{.members = due.group->members, .clocks = due.clocks, .stages = {}};
    answered.merge(due.asked.what == Collective::gather ? stages.gather(part, due.asked.root, blocks)
                                                        : stages.scatter(part, due.asked.root, blocks));
    settle(due);
}

void World::settle(const Due& due) {
    Group& group = *due.group;
    if (engine.machine().node.contend > 0)
        for (int rank = 0; rank < group.ranks; ++rank) {
            const Time came = engine.clock(group.world_rank(rank));
            const Time over = (*due.clocks)[static_cast<std::size_t>(rank)];
            engine.was_in_collective(group.world_rank(rank), came, over);
        }
    if (!due.begun) {
        go_on(group);
        return;
    }
    for (std::size_t rank = 0; rank < due.clocks->size(); ++rank)
        engine.close(due.begun->operations[rank], (*due.clocks)[rank]);
    due.begun->settled = true;
    while (!group.begun.empty() && group.begun.front()->settled) {
        group.begun.pop_front();
        ++group.settled;
    }
}

}  // namespace leadline::sim
