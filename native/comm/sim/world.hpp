// What all ranks of a simulated run share: the engine, communicators, and what is under way among their
// members.
#pragma once

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
#include "comm/sim/call_order.hpp"
#include "comm/vocabulary.hpp"
#include "machine/engine.hpp"
#include "machine/hardware.hpp"

namespace leadline::sim {

using machine::Engine;
using machine::Time;

struct WindowState;
struct Family;

// What the ranks of a communicator have asked for together.
struct Asked {
    Collective what = Collective::barrier;
    int root = 0;
    std::int64_t bytes = 0;  // of the message, or of one rank's block
    bool floating = false;   // of a reduction: its numbers
    Reduce reduce = Reduce::sum;
    std::string_view algorithm{};
    Layout parts{};  // at the root of a gather or scatter whose blocks vary
};
// By one rank's call.
Asked asked_by(const Call& call, int ranks);

// A collective that ranks begin without stopping for it.
struct Begun {
    Asked asked;
    int come = 0;
    std::vector<Time> clocks{};
    std::vector<machine::Operation> operations{};  // by which each rank waits for it
    bool settled = false;
};

// A communicator: its ranks, and what a collective among them is waiting for.
struct Group {
    std::int32_t context = 0;
    std::vector<std::int32_t> members{};  // world ranks; none: the whole world in order
    bool whole = false;                   // the world or a copy of it: hardware networks serve no other
    std::vector<int> dimensions{};        // of a grid, the last fastest
    bool periodic = false;
    int ranks = 0;
    CallOrder calls{};
    int come = 0;                       // ranks that wait in the collective under way
    std::vector<Time> clocks{};         // of each, once it has come
    std::vector<std::int64_t> given{};  // what each brought (colours and keys of a split)
    // What the ranks came for last, to be fetched by each: the communicator and its rank there, or a window.
    // It is kept here since ranks that go on first may make others of their own before all have fetched
    // theirs.
    std::vector<std::pair<Group*, int>> parts{};
    std::shared_ptr<WindowState> opened{};
    std::size_t exposed = 0;                     // B of the window that is being made
    Layout blocks{};                             // that the root of the collective under way brought
    std::deque<std::unique_ptr<Begun>> begun{};  // collectives that nobody stops for, in their order
    std::int32_t settled = 0;                    // of them, those that are no longer there
    std::vector<std::int32_t> begins{};          // how many each rank has begun
    std::vector<Seat> seats{};                   // once somebody has asked
    std::shared_ptr<Family> family{};            // communicators of the same split, where there are several
    // The box that its nodes fill, if they do, each with one rank; once somebody has asked.
    std::optional<std::optional<machine::Box>> box{};

    [[nodiscard]] int world_rank(int rank) const {
        return members.empty() ? rank : members[static_cast<std::size_t>(rank)];
    }
    // The context of messages that collectives consist of.
    [[nodiscard]] std::int32_t inner() const { return -1 - context; }
};

// A collective for which everybody has come.
struct Due {
    Group* group;
    Asked asked;
    std::vector<Time>* clocks;
    Begun* begun;  // null: its ranks stand still for it
};

// Communicators made by one split. They run at the same time over the same nodes.
struct Family {
    int groups = 0;
    std::vector<Due> due{};  // those that wait for their sisters
};

// What the ranks of a window share.
struct WindowState {
    Group* group;
    std::vector<std::byte>* memory;
    std::vector<std::vector<machine::Operation>> open{};  // of each rank
    std::vector<std::int64_t> notices{};                  // that have come to each rank
    std::vector<std::int64_t> wanted{};                   // that a parked rank waits for; 0: none
};

// Seats of the ranks; Unsupported for a placement that the machine has none for.
std::vector<machine::Seat> take_seats(const machine::Machine& machine, const machine::Topology& topology,
                                      int ranks, const std::string& mapping, const std::string& placement);

class World {
public:
    World(const machine::Machine& machine, const machine::Topology& topology,
          std::vector<machine::Seat> seats, machine::Conditions conditions);

    Engine engine;
    std::deque<Group> groups;    // the first is the world
    std::vector<double> values;  // what ranks handed in to agree()
    const Decide* decide = nullptr;
    Verdict verdict;
    Time aligned = 0;                // when all ranks last began together
    std::set<std::string> answered;  // tiers
    std::deque<std::vector<std::byte>> windows;

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
        go_on(group);
    }
    // A rank comes to a collective and stops there.
    void stop_for(Group& group, int rank, std::coroutine_handle<> handle, const Call& call);
    // A rank comes to a collective and goes on; the operation is over when its part is.
    machine::Operation begin(Group& group, int rank, const Call& call);

    void align(Group& group) const;  // all clocks to the latest
    void split(Group& group);        // by what was given: colour and key of each
    Group& new_group(Group&& made);
    // Where a communicator's ranks sit, among its own.
    const std::vector<Seat>& seats(Group& group) const;

private:
    [[nodiscard]] bool all_here(Group& group, int rank) const;
    void go_on(Group& group);
    void arrive(Begun& begun, Group& group, int rank);
    void fall_due(const Due& due);
    bool release();  // collectives that wait for sisters, when nothing else happens; false: there were none
    void perform(const std::vector<Due>& all);
    void perform_in_turn(const Due& due);
    void settle(const Due& due);
    [[nodiscard]] const collectives::Algorithm& choose(const Asked& asked, int ranks) const;
    [[nodiscard]] bool by_network(const Due& due);
    // Those of them that go along lines; returns the others.
    std::vector<Due> by_lines(const std::vector<Due>& together);
    [[nodiscard]] bool has_box(Group& group) const;

    std::vector<std::shared_ptr<Family>> waiting_;  // families with a collective that waits for sisters
};

}  // namespace leadline::sim
