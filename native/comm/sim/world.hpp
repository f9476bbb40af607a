// What all ranks of a simulated run share: the engine, communicators, and what is under way among their
// members.
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/algorithm.hpp"
#include "collectives/program.hpp"
#include "comm/sim/call_order.hpp"
#include "comm/task.hpp"
#include "comm/vocabulary.hpp"
#include "machine/engine.hpp"
#include "machine/hardware.hpp"
#include "machine/stages.hpp"

namespace leadline::sim {

using machine::Engine;
using machine::Time;

struct WindowState;
struct Group;

// What the ranks of a communicator have asked for together.
struct CollectiveArguments {
    Collective what = Collective::barrier;
    int root = 0;
    std::int64_t bytes = 0;  // of the message, or of one rank's block
    bool floating = false;   // of a reduction: its numbers
    Reduce reduce = Reduce::sum;
    std::string_view algorithm{};
    bool varies = false;    // a gather or scatter whose blocks do
    bool in_place = false;  // an alltoall in which nobody copies the own block
};
// By one rank's call.
CollectiveArguments arguments_of(const Call& call, int ranks);
// Where a rank waits, in a deadlock's sentence.
const char* stands(Collective what);

// A rank's stay in a collective that it stops for, in the frame of its caller.
struct Stay {
    std::coroutine_handle<> caller{};
    Task<> program{};  // of its messages
};

// A collective that is made ready to be done again and again.
struct KeptCall {
    Call call;
    Form form;
};

// A collective, from the first rank that comes to it until the last has left.
struct Meeting {
    Group* group = nullptr;
    CollectiveArguments asked{};
    std::int32_t number = 0;  // among those of its communicator
    int come = 0;
    int left = 0;
    std::vector<Time> clocks{};  // when each rank came
    std::vector<Stay*> stays{};  // of ranks that stop for it; the others go on, and wait for an operation
    std::vector<machine::RequestId> operations{};  // where there are such
    std::vector<std::int32_t> waiting{};           // ranks that have come and are held, or wait for a network
    // Where ranks' blocks differ: each rank's own, B; of a gather or scatter also what the root has for all.
    std::vector<std::int64_t> blocks{};
    Layout parts{};
    // Of ranks, whether what they bring lies where the result will be; empty: of none.
    std::vector<std::uint8_t> in_place{};

    // By messages: these, and the programs of ranks that do not stop for them.
    std::shared_ptr<const collectives::Program> program{};
    bool under_way = false;
    std::vector<std::optional<Task<>>> beside{};
    // By a network of its own: what it makes of it, and from when on ranks leave.
    std::optional<machine::Service> service{};
    bool lines = false;
    Time there = machine::never;
};

// A step of a rank's part in a collective: a message to and one from a rank of the communicator, or either,
// or none (-1), at once; when they are over its core works for so long.
struct Move {
    std::int32_t to = -1;
    std::int32_t from = -1;
    std::int64_t sends = 0;  // B
    std::int64_t takes = 0;
    Time works = 0;
};

// A communicator: its ranks, and what a collective among them is waiting for.
struct Group {
    std::int32_t context = 0;
    std::vector<std::int32_t> members{};  // world ranks; none: the whole world in order
    bool whole = false;                   // the world or a copy of it: hardware networks serve no other
    std::vector<int> dimensions{};        // of a grid, the last fastest
    bool periodic = false;
    int ranks = 0;
    int players = 0;  // of them those that are played
    CallOrder calls{};
    int come = 0;                       // ranks that wait to agree, or for a communicator
    std::vector<Time> clocks{};         // of each, once it has come
    std::vector<std::int64_t> given{};  // what each brought (colours and keys of a split)
    // What the ranks came for last, to be fetched by each: the communicator and its rank there, or a window.
    // It is kept here since ranks that go on first may make others of their own before all have fetched
    // theirs.
    std::vector<std::pair<Group*, int>> parts{};
    std::shared_ptr<WindowState> opened{};
    std::vector<std::size_t> exposed{};                // B at each rank of the window that is being made
    std::vector<std::unique_ptr<Meeting>> meetings{};  // in their order
    std::vector<std::unique_ptr<Meeting>> over{};      // to be used again
    std::int32_t first_meeting = 0;                    // the number of the first of them
    std::vector<std::int32_t> entered{};               // how many each rank has come to
    std::vector<NodePlace> placements{};               // once somebody has asked
    int per_node = 0;                                  // ranks on the first node; once somebody has asked
    std::optional<bool> node_by_node{};                // see World::node_by_node; once somebody has asked
    std::int32_t split = -1;                           // by which it was made: its groups share no rank
    // The box that its nodes fill, if they do, each with one rank; once somebody has asked.
    std::optional<std::optional<machine::Box>> box{};

    [[nodiscard]] int world_rank(int rank) const {
        return members.empty() ? rank : members[static_cast<std::size_t>(rank)];
    }
    // The context of messages that collectives consist of.
    [[nodiscard]] std::int32_t inner() const { return -1 - context; }
};

// Of the window's memory at one rank: who has it, and who asks for it, in their order, exclusively or not.
struct WindowLock {
    int holders = 0;
    bool exclusive = false;
    std::deque<std::pair<int, bool>> asking{};
};

// Puts and gets that a rank has begun, and towards whom.
struct OpenAccesses {
    std::vector<machine::RequestId> operations{};
    std::vector<int> targets{};
};

// What the ranks of a window share.
struct WindowState {
    Group* group;
    std::vector<std::size_t> bytes;       // at each rank
    std::vector<std::byte> memory{};      // in place of every rank's, once somebody asks for it
    std::vector<OpenAccesses> open{};     // of each rank
    std::vector<std::int64_t> notices{};  // that have come to each rank
    std::vector<std::int64_t> wanted{};   // that a parked rank waits for; 0: none
    std::vector<WindowLock> locks{};      // of each rank's memory, once one was asked for
};

// Placements of the ranks; Unsupported for a placement that the machine has none for.
std::vector<machine::Placement> place_ranks(const machine::Machine& machine,
                                            const machine::Topology& topology, int ranks,
                                            const std::string& mapping, const std::string& placement);

class World {
public:
    World(const machine::Machine& machine, const machine::Topology& topology,
          std::vector<machine::Placement> placements, machine::Conditions conditions);

    Engine engine;
    std::deque<Group> groups;    // the first is the world
    std::vector<double> values;  // what ranks handed in to agree()
    const Decide* decide = nullptr;
    Verdict verdict;
    Time aligned = 0;                // when all ranks last began together
    std::set<std::string> answered;  // tiers
    std::int64_t announced = 0;      // messages of the largest collective that was begun, all ranks played

    // A rank comes to something that all do at once; the last one to come has `finish` done and sets all off
    // again.
    template <class Finish>
    void come(Group& group, int rank, std::coroutine_handle<> handle, const char* why, Finish finish) {
        if (!all_here(group, rank)) {
            engine.park(group.world_rank(rank), handle, why);
            return;
        }
        finish();  // may throw, into the last rank's program, which must not be parked then
        engine.park(group.world_rank(rank), handle, why);
        progress(group);
    }
    // A call that is kept by a rank: one for all that keep the same.
    [[nodiscard]] std::shared_ptr<const KeptCall> kept(const Call& call, Form form);
    // A rank comes to a collective; whether it stops there.
    bool stop_for(Group& group, int rank, std::coroutine_handle<> handle, const Call& call, Stay& stay);
    // A rank comes to a collective and goes on; the operation is over when its part is.
    machine::RequestId begin(Group& group, int rank, const Call& call);

    // What a call would be by messages, for who writes it down: nothing is played. Its program has no
    // messages where blocks of a gather or scatter vary. Throws Unsupported for what cannot be played.
    [[nodiscard]] Meeting imagined(Group& group, const Call& call);
    // By which algorithm that is.
    [[nodiscard]] std::string_view algorithm_of(const Meeting& imagined) const;
    // A rank's part of it.
    [[nodiscard]] std::vector<Move> moves(const Meeting& imagined, int rank) const;

    void align(Group& group) const;  // all clocks to the latest
    void split(Group& group);        // by what was given: colour and key of each
    Group& new_group(Group&& made);
    // Where a communicator's ranks sit, among its own.
    const std::vector<NodePlace>& placements(Group& group) const;

private:
    [[nodiscard]] bool all_here(Group& group, int rank) const;
    void progress(Group& group);

    // A collective: collective.cpp.
    Meeting& join(Group& group, int rank, const Call& call);
    void found(Meeting& meeting, Group& group, const Call& call);
    void come_to(Meeting& meeting, int rank);
    void come_to_network(Meeting& meeting, int rank);
    void leave(Meeting& meeting, int rank);
    void leave_all(Meeting& meeting);
    void was_in(const Meeting& meeting, int rank, Time until);
    void ask_hardware(Meeting& meeting, Group& group) const;
    [[nodiscard]] bool has_box(Group& group) const;
    [[nodiscard]] const collectives::Algorithm& choose(const CollectiveArguments& asked,
                                                       const collectives::AlgorithmArguments& like) const;
    [[nodiscard]] bool node_by_node(Group& group) const;
    // By messages, or at once where that is the same: programs.cpp.
    void hold(Meeting& meeting, int rank);
    void let_go();
    [[nodiscard]] bool at_once();
    bool start(Meeting& meeting, int rank);
    [[nodiscard]] Task<> play(Meeting& meeting, int rank, int agent);
    [[nodiscard]] Task<> play_beside(Meeting& meeting, int rank);
    [[nodiscard]] Task<> play_in_turn(Meeting& meeting, int rank, int agent);

    struct Made {
        const collectives::Algorithm* algorithm;
        collectives::AlgorithmArguments asked;
        std::shared_ptr<const collectives::Program> program;
    };
    [[nodiscard]] std::shared_ptr<const collectives::Program> program(Group& group,
                                                                      const CollectiveArguments& asked);
    [[nodiscard]] const collectives::Lattice* lattice(const Group& group);
    std::optional<collectives::Lattice> lattice_{};
    std::deque<Made> made_;                                   // programs, the latest first
    std::array<std::shared_ptr<const KeptCall>, 4> calls_{};  // the latest
    std::size_t next_call_ = 0;
    std::vector<Meeting*> held_;  // with ranks that have come, and may be computed at once
    machine::Kept kept_;
    machine::LineTraffic lines_{engine};
    Time tree_free_ = 0;  // when the tree network takes the next collective
    std::int32_t splits_ = 0;
};

}  // namespace leadline::sim
