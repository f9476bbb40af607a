// Collectives of a described machine: the last rank to come has one computed for all.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "comm/sim/world.hpp"
#include "machine/hardware.hpp"

namespace leadline::sim {
namespace {

std::int64_t mean(Layout parts, int ranks) {
    const auto all = std::accumulate(parts.begin(), parts.end(), std::int64_t{0},
                                     [](std::int64_t sum, const Part& part) { return sum + part.bytes; });
    return (all + ranks - 1) / ranks;
}

// A number with a comma between thousands, for a sentence.
std::string in_thousands(std::int64_t number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), 1, ',');
    return text;
}

// Of one collective: about a quarter of an hour.
constexpr std::int64_t most_messages = std::int64_t{1} << 30U;

// Whether hardware may serve: nobody has said how it is to be done, and nobody but the program itself knows
// what an operation of its own does.
bool plain(const CollectiveArguments& asked) {
    return asked.algorithm.empty() && asked.reduce != Reduce::user && !asked.varies;
}

machine::HardwareCall call_of(const Group& group, const CollectiveArguments& asked) {
    return {.operation = name_of(asked.what),
            .whole = group.whole,
            .bytes = asked.bytes,
            .floating = asked.floating,
            .sums = asked.reduce == Reduce::sum};
}

// Each rank's block, B, of an allgather or a reduce_scatter where they differ; else nothing.
std::vector<std::int64_t> blocks_of(const Call& call, int ranks) {
    if (call.takes.empty() || (call.what != Collective::allgather && call.what != Collective::reduce_scatter))
        return {};
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(ranks));
    for (const Part& part : call.takes) blocks[static_cast<std::size_t>(part.peer)] += part.bytes;
    if (std::ranges::adjacent_find(blocks, std::ranges::not_equal_to()) == blocks.end()) return {};
    return blocks;
}

// The bytes of a rank's own block of a gather or scatter.
std::int64_t own_block(const Call& call) {
    return static_cast<std::int64_t>(call.what == Collective::gather ? call.out.size() : call.in.size());
}

}  // namespace

const char* stands(Collective what) {
    static constexpr std::array<const char*, 12> sentences{
        "in a barrier",        "in a bcast",   "in a reduce",        "in an allreduce",
        "in a gather",         "in a scatter", "in an allgather",    "in an alltoall",
        "in a reduce_scatter", "in a scan",    "for its neighbours", "for its neighbours"};
    return sentences.at(static_cast<std::size_t>(what));
}

// Where blocks of an allgather or a reduce_scatter vary, `bytes` is their mean: libraries choose by the
// whole.
CollectiveArguments arguments_of(const Call& call, int ranks) {
    CollectiveArguments asked{
        .what = call.what,
        .root = call.root,
        .floating = call.type == Type::float32 || call.type == Type::float64,
        .reduce = call.reduce,
        .algorithm = call.algorithm,
        .varies = call.varies && (call.what == Collective::gather || call.what == Collective::scatter),
        .in_place = call.in_place && call.what == Collective::alltoall};
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

const collectives::Algorithm& World::choose(const CollectiveArguments& asked,
                                            const collectives::AlgorithmArguments& like) const {
    const auto operation = name_of(asked.what);
    std::string_view chosen = asked.algorithm;
    if (chosen.empty()) {
        const auto& choices = engine.machine().collectives;
        const auto fits = std::ranges::find_if(choices, [&](const machine::Choice& each) {
            return each.operation == operation && asked.bytes <= each.up_to && like.ranks <= each.ranks_up_to;
        });
        chosen = fits != choices.end()
                     ? fits->algorithm
                     : collectives::find_library(engine.machine().library)->takes(operation, like);
    }
    const auto* algorithm = collectives::find(operation, chosen);
    if (!algorithm)
        throw Unsupported("there is no algorithm '" + std::string(chosen) + "' for " +
                          std::string(operation));
    return *algorithm;
}

bool World::has_box(Group& group) const {
    if (!group.box) {
        std::vector<int> nodes(static_cast<std::size_t>(group.ranks));
        for (int rank = 0; rank < group.ranks; ++rank)
            nodes[static_cast<std::size_t>(rank)] = engine.placement(group.world_rank(rank)).node;
        group.box = machine::box_of(engine.topology(), nodes);
    }
    return group.box->has_value();
}

// Whether the ranks of a node follow one another, `per_node` on each but perhaps the last.
bool World::node_by_node(Group& group) const {
    if (group.node_by_node) return *group.node_by_node;
    std::vector<int> begun;
    bool follow = true;
    int last = -1;
    for (int rank = 0; rank < group.ranks; ++rank) {
        const int node = engine.placement(group.world_rank(rank)).node;
        follow = follow && (node == last) == (rank % group.per_node != 0);
        if (node != last) begun.push_back(node);
        last = node;
    }
    std::ranges::sort(begun);
    group.node_by_node = follow && std::ranges::adjacent_find(begun) == begun.end();
    return *group.node_by_node;
}

// The grid of nodes on which the ranks of the world sit; null where they sit on none, or not as many on each.
const collectives::Lattice* World::lattice(const Group& group) {
    const machine::Topology& topology = engine.topology();
    if (!group.members.empty() || !topology.grid()) return nullptr;
    if (lattice_) return &*lattice_;
    std::vector<machine::Placement> sits(static_cast<std::size_t>(group.ranks));
    for (int rank = 0; rank < group.ranks; ++rank)
        sits[static_cast<std::size_t>(rank)] = engine.placement(rank);
    const auto each = machine::ranks_on_each(topology, sits);
    if (!each) return nullptr;
    std::vector<std::int32_t> places;
    places.reserve(sits.size());
    for (const machine::Placement& at : sits) places.push_back(at.node * *each + at.core);
    return &lattice_.emplace(topology.axes(), *each, std::move(places));
}

// The messages of a collective. Communicators of one size share them.
std::shared_ptr<const collectives::Program> World::program(Group& group, const CollectiveArguments& asked) {
    constexpr std::size_t kept = 4;
    if (group.per_node == 0) {
        const auto node = [&](int rank) { return engine.placement(group.world_rank(rank)).node; };
        group.per_node = 1;
        while (group.per_node < group.ranks && node(group.per_node) == node(0)) ++group.per_node;
    }
    collectives::AlgorithmArguments like{.ranks = group.ranks,
                                         .root = asked.root,
                                         .bytes = asked.bytes,
                                         .per_node = group.per_node,
                                         .in_place = asked.in_place};
    const auto* chosen = &choose(asked, like);
    const auto cannot = [&] { return chosen->name.starts_with("hierarchical") && !node_by_node(group); };
    if (cannot()) {
        like.per_node = 1;
        chosen = &choose(asked, like);  // a library may have another
    }
    if (cannot())
        throw Unsupported(
            "a hierarchical collective wants the ranks of a node one after another, as many on each");
    const collectives::Algorithm& algorithm = *chosen;
    if (algorithm.by_axes) like.lattice = lattice(group);
    const auto known = std::ranges::find_if(
        made_, [&](const Made& each) { return each.algorithm == &algorithm && each.asked == like; });
    if (known != made_.end()) return known->program;
    if (made_.size() == kept) made_.pop_back();
    made_.push_front(
        {&algorithm, like, std::make_shared<collectives::Program>(algorithm.stages(like), group.ranks)});
    return made_.front().program;
}

// ---------------------------------------------------------------------------------------- coming to one

// The collective to which a rank comes: of its communicator the one after its last.
Meeting& World::join(Group& group, int rank, const Call& call) {
    while (!group.meetings.empty() && group.meetings.front()->left == group.players) {
        group.over.push_back(std::move(group.meetings.front()));
        group.meetings.erase(group.meetings.begin());
        ++group.first_meeting;
    }
    if (group.entered.empty()) group.entered.resize(static_cast<std::size_t>(group.players));
    const auto turn =
        static_cast<std::size_t>(group.entered[static_cast<std::size_t>(rank)] - group.first_meeting);
    if (turn >= group.meetings.size()) {
        auto made = group.over.empty() ? std::make_unique<Meeting>() : std::move(group.over.back());
        if (!group.over.empty()) group.over.pop_back();
        found(*made, group, call);
        made->number = group.first_meeting + static_cast<std::int32_t>(turn);
        group.meetings.push_back(std::move(made));
    }
    ++group.entered[static_cast<std::size_t>(rank)];
    Meeting& meeting = *group.meetings[turn];
    if (call.in_place) {
        meeting.in_place.resize(meeting.stays.size());
        meeting.in_place[static_cast<std::size_t>(rank)] = 1;
    }
    if (rank == call.root && !meeting.asked.varies &&
        ((call.what == Collective::gather && call.takes.data()) ||
         (call.what == Collective::scatter && call.gives.data())))
        throw Unsupported("a gather or scatter with a layout at its root says on every rank that it varies");
    if (meeting.asked.varies) {
        meeting.blocks.resize(meeting.stays.size());
        meeting.blocks[static_cast<std::size_t>(rank)] = own_block(call);
        if (rank == call.root) meeting.parts = call.what == Collective::gather ? call.takes : call.gives;
    }
    return meeting;
}

// Whether a network of the machine's own does it, and what that takes.
void World::ask_hardware(Meeting& meeting, Group& group) const {
    if (!plain(meeting.asked) || !meeting.blocks.empty()) return;
    const machine::HardwareCall asks = call_of(group, meeting.asked);
    meeting.service = machine::by_network(engine.machine(), engine.topology().nodes(), asks);
    if (meeting.service || !machine::goes_by_lines(engine.machine(), asks) || !has_box(group)) return;
    meeting.lines = true;
    meeting.service = machine::by_lines(engine, **group.box, asks);
}

// What the first rank's call makes of a collective. Throws for what there is not.
void World::found(Meeting& meeting, Group& group, const Call& call) {
    const auto ranks = static_cast<std::size_t>(group.players);
    meeting.group = &group;
    meeting.asked = arguments_of(call, group.ranks);
    meeting.come = meeting.left = 0;
    meeting.clocks.resize(ranks);
    meeting.stays.resize(ranks);
    meeting.waiting.clear();
    meeting.waiting.reserve(ranks);
    meeting.parts = {};
    meeting.blocks = blocks_of(call, group.ranks);
    meeting.in_place.clear();
    meeting.beside.clear();
    meeting.program.reset();
    meeting.service.reset();
    meeting.under_way = engine.conditions().by_messages;
    meeting.lines = false;
    meeting.there = machine::never;
    if (meeting.asked.varies) {
        if (!meeting.asked.algorithm.empty() && meeting.asked.algorithm != "linear")
            throw Unsupported("blocks that vary go one after another, not by '" +
                              std::string(meeting.asked.algorithm) + "'");
        meeting.under_way = true;
        return;
    }
    ask_hardware(meeting, group);
    if (meeting.service) {
        meeting.under_way = false;  // there are no messages to play
        answered.insert("hardware");
        return;
    }
    meeting.program = program(group, meeting.asked);
    announced = std::max(announced, meeting.program->messages());
    // The shortcut knows one size of all messages of a stage.
    if (!meeting.blocks.empty() || meeting.program->uneven()) meeting.under_way = true;
    const machine::Symmetry* symmetry = engine.conditions().symmetry;
    if (symmetry && !meeting.program->moves(symmetry->along_axes()))
        throw machine::Asymmetric{.along_axes = !symmetry->along_axes() && meeting.program->moves(true)};
    const auto& conditions = engine.conditions();
    const bool each_by_itself = conditions.network == "loggp" && !conditions.track_contention &&
                                !conditions.by_messages && engine.machine().node.ranks == 1;
    const std::int64_t played = meeting.program->messages() / group.ranks * group.players;
    if (!each_by_itself && played > most_messages)
        throw Unsupported(std::string(name_of(meeting.asked.what)) + " of " + in_thousands(group.ranks) +
                          " ranks is " + in_thousands(meeting.program->messages()) +
                          " messages, and a simulation plays up to " + in_thousands(most_messages) +
                          ": fewer ranks, or another algorithm");
}

Meeting World::imagined(Group& group, const Call& call) {
    Meeting meeting{.group = &group, .asked = arguments_of(call, group.ranks)};
    meeting.blocks = blocks_of(call, group.ranks);
    if (call.in_place) meeting.in_place.assign(static_cast<std::size_t>(group.ranks), 1);
    if (meeting.asked.varies) {
        meeting.parts = call.what == Collective::gather ? call.takes : call.gives;
        meeting.blocks.resize(static_cast<std::size_t>(group.ranks));
        for (const Part& part : meeting.parts)
            meeting.blocks[static_cast<std::size_t>(part.peer)] = part.bytes;
        return meeting;
    }
    ask_hardware(meeting, group);
    meeting.program = program(group, meeting.asked);
    return meeting;
}

bool World::stop_for(Group& group, int rank, std::coroutine_handle<> handle, const Call& call, Stay& stay) {
    const int world = group.world_rank(rank);
    engine.enter(world);
    Meeting& meeting = join(group, rank, call);
    meeting.stays[static_cast<std::size_t>(rank)] = &stay;
    stay.caller = handle;
    if (meeting.under_way) {
        ++meeting.come;
        meeting.clocks[static_cast<std::size_t>(rank)] = engine.clock(world);
        return start(meeting, rank);
    }
    engine.park(world, handle, stands(call.what));
    come_to(meeting, rank);
    return true;
}

machine::RequestId World::begin(Group& group, int rank, const Call& call) {
    const int world = group.world_rank(rank);
    Meeting& meeting = join(group, rank, call);
    const machine::RequestId operation = engine.open(world);
    meeting.stays[static_cast<std::size_t>(rank)] = nullptr;
    meeting.operations.resize(meeting.stays.size());
    meeting.operations[static_cast<std::size_t>(rank)] = operation;
    // On a machine where nothing goes on by itself the rank has come once it next stops for something.
    engine.on_progress(world, [this, &meeting, rank] { come_to(meeting, rank); });
    return operation;
}

void World::come_to(Meeting& meeting, int rank) {
    ++meeting.come;
    meeting.clocks[static_cast<std::size_t>(rank)] = engine.clock(meeting.group->world_rank(rank));
    if (meeting.service) come_to_network(meeting, rank);
    else if (meeting.under_way) start(meeting, rank);
    else hold(meeting, rank);
}

// ---------------------------------------------------------------------------------------- by a network

void World::come_to_network(Meeting& meeting, int rank) {
    if (meeting.there != machine::never) {
        leave(meeting, rank);
        return;
    }
    meeting.waiting.push_back(rank);
    const machine::Service& service = *meeting.service;
    const bool begins =
        service.waits_for_all ? meeting.come == meeting.group->players : rank == meeting.asked.root;
    if (!begins) return;
    Time begin = service.waits_for_all ? std::ranges::max(meeting.clocks)
                                       : meeting.clocks[static_cast<std::size_t>(rank)];
    if (!meeting.lines) {
        // What goes up and down the tree follows what was before.
        if (service.occupies > 0) {
            begin = std::max(begin, tree_free_);
            tree_free_ = begin + service.occupies;
        }
        meeting.there = begin + service.lasts;
        leave_all(meeting);
        return;
    }
    lines_.begin(begin, **meeting.group->box, call_of(*meeting.group, meeting.asked),
                 [this, &meeting](Time sent) {
                     meeting.there = sent + meeting.service->lasts;
                     leave_all(meeting);
                 });
}

void World::leave_all(Meeting& meeting) {
    for (const std::int32_t rank : meeting.waiting) leave(meeting, rank);
    meeting.waiting.clear();
}

// A rank leaves a collective that a network of its own has done.
void World::leave(Meeting& meeting, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    const Time end = std::max(meeting.clocks[at], meeting.there) + meeting.service->overhead;
    was_in(meeting, rank, end);
    ++meeting.left;
    if (meeting.stays[at]) engine.wake(meeting.group->world_rank(rank), end);
    else engine.close(meeting.operations[at], end);
}

void World::was_in(const Meeting& meeting, int rank, Time until) {
    engine.was_in_collective(meeting.group->world_rank(rank), meeting.clocks[static_cast<std::size_t>(rank)],
                             until);
}

}  // namespace leadline::sim
