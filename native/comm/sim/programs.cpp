// Collectives by messages: what each rank sends and receives, from when it comes to one until it leaves; and
// the short cut that computes them for all ranks at once where that is the same.
#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "comm/sim/waits.hpp"
#include "comm/sim/world.hpp"
#include "machine/stages.hpp"

namespace leadline::sim {
namespace {

using collectives::Program;
using machine::no_request;
using machine::RequestId;

// An agent's messages of one stage: until both are over.
struct Exchanged {
    Engine& engine;
    int agent;
    std::array<RequestId, 2> operations;
    const char* why;
    Time handed = 0;  // when what was received was handed over
    static bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<> handle) {
        if (!engine.await_all(agent, handle, operations)) return false;
        engine.because(agent, why);
        return true;
    }
    Time await_resume() {
        if (operations[1] != no_request) handed = engine.handed(operations[1]);
        engine.finish(agent, operations);
        return handed;
    }
};

// Content is none of a collective's: a size without memory.
std::span<std::byte> sized(std::int64_t bytes) {
    return {static_cast<std::byte*>(nullptr), static_cast<std::size_t>(bytes)};
}

// B of the blocks that `rank` has in a stage: of all ranks alike, or of those whose blocks they are.
std::int64_t bytes_of(const Meeting& meeting, const collectives::Stage& stage, int rank) {
    if (meeting.blocks.empty()) return stage.holds ? stage.holds(rank) * meeting.asked.bytes : stage.bytes;
    std::int64_t bytes = 0;
    if (stage.carries)
        for (const std::int32_t block : stage.carries(rank))
            bytes += meeting.blocks[static_cast<std::size_t>(block)];
    return bytes;
}

bool in_place(const Meeting& meeting, int rank) {
    return !meeting.in_place.empty() && meeting.in_place[static_cast<std::size_t>(rank)] != 0;
}

// B that a rank copies to where its result will be before a message; an alltoall's algorithms say it of its
// own block.
std::int64_t copied(const Meeting& meeting, int rank) {
    const CollectiveArguments& asked = meeting.asked;
    if (in_place(meeting, rank)) return 0;
    const auto& blocks = meeting.blocks;
    switch (asked.what) {
        case Collective::reduce:
        case Collective::allreduce:
        case Collective::scan: return asked.bytes;
        case Collective::allgather:
            return blocks.empty() ? asked.bytes : blocks[static_cast<std::size_t>(rank)];
        case Collective::reduce_scatter:
            return blocks.empty() ? asked.bytes * meeting.group->ranks
                                  : std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
        case Collective::gather:
        case Collective::scatter: return rank == asked.root ? asked.bytes : 0;
        default: return 0;
    }
}

}  // namespace

// ---------------------------------------------------------------------------------------- one by one

// A rank's program begins, where it came; whether it stops.
bool World::start(Meeting& meeting, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (Stay* stay = meeting.stays[at]) {
        stay->program = meeting.asked.varies ? play_in_turn(meeting, rank, meeting.group->world_rank(rank))
                                             : play(meeting, rank, meeting.group->world_rank(rank));
        return stay->program.await_suspend(stay->caller);
    }
    meeting.beside.resize(meeting.stays.size());
    meeting.beside[at].emplace(play_beside(meeting, rank));
    meeting.beside[at]->resume();
    return false;
}

Task<> World::play(Meeting& meeting, int rank, int agent) {
    const Group& group = *meeting.group;
    const Program& program = *meeting.program;
    // Among a communicator's collectives the messages of each are its own.
    const std::int32_t tag = -1 - meeting.number;
    Time begins = engine.machine().collective_overhead;
    if (engine.machine().copies()) begins += engine.copy_cost(copied(meeting, rank));
    if (begins > 0) co_await Turn{engine, agent, false};
    engine.spend(agent, begins);
    Program::Walk walk(program, rank);
    for (Program::Step step; walk.next(step);) {
        const collectives::Stage& stage = program.stage(step);
        if (stage.pattern == collectives::Stage::Pattern::local) {
            const Time copies = engine.copy_cost(bytes_of(meeting, stage, rank));
            if (copies > 0) co_await Turn{engine, agent, false};
            engine.spend(agent, copies);
            continue;
        }
        std::int64_t came = 0;
        std::array<RequestId, 2> operations{no_request, no_request};
        if (step.from != Program::nobody) {
            came = bytes_of(meeting, stage, step.from);
            operations[1] = engine.receive(agent, group.world_rank(step.from),
                                           {group.inner(), step.from, tag}, sized(came));
        }
        if (step.to != Program::nobody) {
            co_await Turn{engine, agent, true};
            operations[0] = engine.send_blocking(agent, group.world_rank(step.to), {group.inner(), rank, tag},
                                                 sized(bytes_of(meeting, stage, rank)));
        }
        const Time free = engine.clock(agent);
        const Time handed = co_await Exchanged{engine, agent, operations, stands(meeting.asked.what)};
        if (step.from == Program::nobody || !stage.combines) continue;
        if (engine.combine_cost(came) > 0) co_await Turn{engine, agent, false};
        const Time whole = engine.clock(agent);
        engine.spend(agent, engine.combined(group.world_rank(step.from), group.world_rank(rank), came, handed,
                                            free, whole) -
                                whole);
    }
    if (agent == group.world_rank(rank)) was_in(meeting, rank, engine.clock(agent));
    ++meeting.left;
}

// Of a gather or scatter whose blocks vary: the root deals with one rank after another, as blocking sends and
// receives do.
Task<> World::play_in_turn(Meeting& meeting, int rank, int agent) {
    const Group& group = *meeting.group;
    const std::int64_t own = meeting.blocks[static_cast<std::size_t>(rank)];
    const std::int32_t tag = -1 - meeting.number;
    const int root = meeting.asked.root;
    const bool gathers = meeting.asked.what == Collective::gather;
    Time begins = engine.machine().collective_overhead;
    if (engine.machine().copies() && rank == root && !in_place(meeting, rank))
        begins += engine.copy_cost(own);
    if (begins > 0) co_await Turn{engine, agent, false};
    engine.spend(agent, begins);
    const auto receive = [&](int from, std::int64_t bytes) {
        return engine.receive(agent, group.world_rank(from), {group.inner(), from, tag}, sized(bytes));
    };
    const auto send = [&](int to, std::int64_t bytes) {
        return engine.send_blocking(agent, group.world_rank(to), {group.inner(), rank, tag}, sized(bytes));
    };
    using Both = std::array<RequestId, 2>;
    const char* why = stands(meeting.asked.what);
    if (rank != root && own > 0) {
        if (gathers) co_await Turn{engine, agent, true};
        const Both operations =
            gathers ? Both{send(root, own), no_request} : Both{no_request, receive(root, own)};
        co_await Exchanged{engine, agent, operations, why};
    }
    for (const Part& part : rank == root ? meeting.parts : Layout()) {
        if (part.peer == root || part.bytes == 0) continue;
        if (!gathers) co_await Turn{engine, agent, true};
        const Both operations = gathers ? Both{no_request, receive(part.peer, part.bytes)}
                                        : Both{send(part.peer, part.bytes), no_request};
        co_await Exchanged{engine, agent, operations, why};
    }
    if (agent == group.world_rank(rank)) was_in(meeting, rank, engine.clock(agent));
    ++meeting.left;
}

// The same beside the rank's own program.
Task<> World::play_beside(Meeting& meeting, int rank) {
    const auto at = static_cast<std::size_t>(rank);
    const int agent = engine.beside(meeting.group->world_rank(rank), meeting.clocks[at]);
    // Made before it is awaited: GCC 12 makes two of what a conditional expression awaits.
    std::optional<Task<>> program;
    if (meeting.asked.varies) program.emplace(play_in_turn(meeting, rank, agent));
    else program.emplace(play(meeting, rank, agent));
    const RequestId operation = meeting.operations[at];
    co_await std::move(*program);
    engine.close(operation, engine.clock(agent));
    engine.end_beside(agent);
}

// ---------------------------------------------------------------------------------------- not played

std::string_view World::algorithm_of(const Meeting& imagined) const {
    if (imagined.asked.varies) return "linear";
    return std::ranges::find(made_, imagined.program, &Made::program)->algorithm->name;
}

// As play() does it. Where combining is beside the wire, what is left of it when all has come is the last
// packet's.
std::vector<Move> World::moves(const Meeting& imagined, int rank) const {
    const machine::Machine& machine = engine.machine();
    const auto copying = [&](std::int64_t bytes) { return machine.copies() ? engine.copy_cost(bytes) : 0; };
    std::vector<Move> all{{.works = machine.collective_overhead}};
    if (imagined.asked.varies) {
        const std::int64_t own = imagined.blocks[static_cast<std::size_t>(rank)];
        const int root = imagined.asked.root;
        const bool gathers = imagined.asked.what == Collective::gather;
        const auto turn = [&](bool sends, std::int32_t peer, std::int64_t bytes) {
            if (peer == rank || bytes == 0) return;
            all.push_back(sends ? Move{.to = peer, .sends = bytes} : Move{.from = peer, .takes = bytes});
        };
        if (rank != root) turn(gathers, root, own);
        else if (!in_place(imagined, rank)) all.front().works += copying(own);
        for (const Part& part : rank == root ? imagined.parts : Layout())
            turn(!gathers, part.peer, part.bytes);
        return all;
    }
    all.front().works += copying(copied(imagined, rank));
    Program::Walk walk(*imagined.program, rank);
    for (Program::Step step; walk.next(step);) {
        const collectives::Stage& stage = imagined.program->stage(step);
        const std::int64_t own =
            step.to == Program::nobody && stage.pattern != collectives::Stage::Pattern::local
                ? 0
                : bytes_of(imagined, stage, rank);
        if (stage.pattern == collectives::Stage::Pattern::local) {
            all.push_back({.works = engine.copy_cost(own)});
            continue;
        }
        Move move{.to = step.to, .from = step.from, .sends = own};
        if (step.from != Program::nobody) {
            move.takes = bytes_of(imagined, stage, step.from);
            const auto packet = machine.reduce_streams ? machine.packets.payload : move.takes;
            if (stage.combines) move.works = engine.combine_cost(std::min(move.takes, packet));
        }
        all.push_back(move);
    }
    return all;
}

// ---------------------------------------------------------------------------------------- at once

// The rank waits until nobody can come any more before something else happens.
void World::hold(Meeting& meeting, int rank) {
    if (meeting.waiting.empty()) {
        if (held_.empty()) engine.before_events([this] { let_go(); });
        held_.push_back(&meeting);
    }
    meeting.waiting.push_back(rank);
}

void World::let_go() {
    const bool done = at_once();
    const auto held = std::exchange(held_, {});
    if (done) return;
    for (Meeting* meeting : held) {
        meeting->under_way = true;
        for (const std::int32_t rank : meeting->waiting)
            if (!start(*meeting, rank) && meeting->stays[static_cast<std::size_t>(rank)])
                engine.wake(meeting->group->world_rank(rank), 0);
        meeting->waiting.clear();
    }
}

// Computes the collectives that are held for all their ranks. False where that might not be what their
// messages give: then nothing has happened.
bool World::at_once() {
    if (!engine.quiet()) return false;
    std::vector<machine::Stages::CommunicatorStages> parts;
    for (Meeting* meeting : held_) {
        const Group& group = *meeting->group;
        const Group& first = *held_.front()->group;
        const bool apart = meeting == held_.front() || (group.split >= 0 && group.split == first.split);
        const bool again = std::ranges::count(held_, &group, &Meeting::group) > 1;
        if (meeting->come < group.players || !apart || again) return false;
        parts.push_back(
            {.members = group.members, .clocks = &meeting->clocks, .stages = &meeting->program->stages()});
    }
    const auto tiers = machine::Stages(engine, kept_).run(parts);
    if (!tiers) return false;
    answered.insert(tiers->begin(), tiers->end());
    engine.keep(std::max(kept_.out, kept_.in));
    for (Meeting* meeting : held_) {
        const Group& group = *meeting->group;
        for (const std::int32_t rank : meeting->waiting) {
            const auto at = static_cast<std::size_t>(rank);
            const int world = group.world_rank(rank);
            const Time end = meeting->clocks[at];
            // Its clock still is what it was when it came, where it stopped.
            engine.was_in_collective(world, engine.clock(world), end);
            if (meeting->stays[at]) engine.wake(world, end);
            else engine.close(meeting->operations[at], end);
        }
        meeting->left = group.ranks;
        meeting->waiting.clear();
    }
    return true;
}

}  // namespace leadline::sim
