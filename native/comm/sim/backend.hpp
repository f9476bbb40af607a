// The vocabulary on a described machine: every word charges a simulated rank's clock, and suspends the rank
// until what it needs has happened there.
//
// Messages bring at most 16 B of content: enough for a program's own small talk; what is larger is only time.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "comm/places.hpp"
#include "comm/vocabulary.hpp"
#include "machine/engine.hpp"

namespace leadline {

class Comm;
class Control;

namespace sim {

struct WindowState;

using machine::Engine;
using machine::Time;

// A communicator: its ranks, and what a collective among them is waiting for.
struct Group {
    std::int32_t context = 0;
    std::vector<std::int32_t> members{};  // world ranks; none: the whole world in order
    bool whole = false;                   // the world or a copy of it: hardware networks serve no other
    std::vector<int> dimensions{};        // of a grid, the last fastest
    bool periodic = false;
    int ranks = 0;
    int come = 0;                       // ranks that wait in the collective under way
    std::vector<Time> clocks{};         // of each, once it has come
    std::vector<std::int64_t> given{};  // what each brought (colours and keys of a split)
    // What the ranks came for last, to be fetched by each: the communicator and its rank there, or a window.
    // It is kept here since ranks that go on first may make others of their own before all have fetched
    // theirs.
    std::vector<std::pair<Group*, int>> parts{};
    std::shared_ptr<WindowState> opened{};

    [[nodiscard]] int world_rank(int rank) const {
        return members.empty() ? rank : members[static_cast<std::size_t>(rank)];
    }
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

// What all ranks of a run share.
class World {
public:
    World(const machine::Machine& machine, const machine::Topology& topology,
          std::vector<machine::Seat> seats, machine::Conditions conditions);

    Engine engine;
    std::deque<Group> groups;    // the first is the world
    std::vector<double> values;  // what ranks handed in to agree()
    const Decide* decide = nullptr;
    Verdict verdict;
    std::set<std::string> answered;  // tiers
    std::deque<std::vector<std::byte>> windows;

    // A rank comes to a collective; the last one to come has `finish` done and sets all off again.
    template <class Finish>
    void come(Group& group, int rank, std::coroutine_handle<> handle, const char* why, Finish finish) {
        const int world = group.world_rank(rank);
        if (group.clocks.empty()) group.clocks.resize(static_cast<std::size_t>(group.ranks));
        group.clocks[static_cast<std::size_t>(rank)] = engine.clock(world);
        if (++group.come < group.ranks) {
            engine.park(world, handle, why);
            return;
        }
        group.come = 0;
        finish();  // may throw, into the last rank's program, which must not be parked then
        engine.park(world, handle, why);
        for (int each = 0; each < group.ranks; ++each)
            engine.wake(group.world_rank(each), group.clocks[static_cast<std::size_t>(each)]);
    }
    void align(Group& group) const;  // all clocks to the latest
    void collective(Group& group, const std::string& operation, int root, std::int64_t bytes, Type type,
                    Reduce reduce);
    void split(Group& group);  // by what was given: colour and key of each
    Group& new_group(Group&& made);
};

}  // namespace sim

class Window {
public:
    using Shared = sim::WindowState;
    Window(sim::World& world, std::shared_ptr<Shared> shared, int rank)
        : world_(&world), shared_(std::move(shared)), rank_(rank) {}

    Bytes local() { return *shared_->memory; }
    Ready<> put(Bytes data, int target, std::size_t offset);
    Ready<> get(Bytes data, int target, std::size_t offset);
    struct Flush {
        Window& window;
        bool await_ready() { return false; }
        bool await_suspend(std::coroutine_handle<> handle);
        void await_resume();
    };
    // Ends what this rank began towards any target: no machine here tells them apart.
    Flush flush(int) { return {*this}; }
    Task<> notify(int target);
    struct Notified {
        Window& window;
        std::int64_t count;
        bool await_ready();
        void await_suspend(std::coroutine_handle<> handle);
        void await_resume() {}
    };
    Notified notified(std::int64_t count) { return {*this, count}; }
    Ready<> free() { return {}; }

private:
    [[nodiscard]] int mine() const { return shared_->group->world_rank(rank_); }
    [[nodiscard]] std::vector<machine::Operation>& open() {
        return shared_->open[static_cast<std::size_t>(rank_)];
    }
    sim::World* world_;
    std::shared_ptr<Shared> shared_;
    int rank_;
};

class Comm {
public:
    using Request = machine::Operation;
    using Window = leadline::Window;

    Comm(sim::World& world, sim::Group& group, int rank)
        : world_(&world), group_(&group), rank_(rank), mine_(group.world_rank(rank)) {}
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return group_->ranks; }
    [[nodiscard]] int distance(int a, int b) const;

    // Until one operation is over.
    struct Wait {
        sim::Engine& engine;
        int rank;
        machine::Operation operation;
        [[nodiscard]] bool await_ready() const {
            return operation == machine::no_operation || engine.done(operation) != machine::never;
        }
        void await_suspend(std::coroutine_handle<> handle) {
            engine.await_one(rank, handle, {&operation, 1});
        }
        int await_resume() { return operation == machine::no_operation ? 0 : engine.finish(rank, operation); }
    };
    struct Until : Wait {
        void await_resume() { Wait::await_resume(); }
    };
    struct Both {
        sim::Engine& engine;
        int rank;
        std::array<machine::Operation, 2> operations;
        bool await_ready() { return false; }
        bool await_suspend(std::coroutine_handle<> handle) {
            return engine.await_all(rank, handle, operations);
        }
        void await_resume() { engine.finish(rank, operations); }
    };
    struct All {
        sim::Engine& engine;
        int rank;
        std::span<machine::Operation> operations;
        bool await_ready() { return false; }
        bool await_suspend(std::coroutine_handle<> handle) {
            return engine.await_all(rank, handle, operations);
        }
        void await_resume() { engine.finish(rank, operations); }
    };
    struct Any {
        sim::Engine& engine;
        int rank;
        std::span<machine::Operation> operations;
        bool await_ready() { return false; }
        bool await_suspend(std::coroutine_handle<> handle);
        int await_resume();
    };
    struct Test {
        sim::Engine& engine;
        int rank;
        Request& request;
        [[nodiscard]] bool await_ready() const { return request == machine::no_operation; }
        void await_suspend(std::coroutine_handle<> handle);
        bool await_resume();
    };
    // A collective word: the last rank to come computes it for all.
    struct Meeting {
        Comm& comm;
        const char* why;
        const char* operation;
        int root = 0;
        std::int64_t bytes = 0;
        Type type = Type::float64;
        Reduce reduce = Reduce::sum;
        [[nodiscard]] bool await_ready() const { return comm.size() == 1; }
        void await_suspend(std::coroutine_handle<> handle);
        void await_resume() {}
    };
    // A word that makes a communicator.
    struct Parting {
        Comm& comm;
        std::int64_t given;  // colour and key; the same for all: a copy
        bool copies;
        std::span<const int> dimensions{};  // of a grid, the caller's
        bool periodic = false;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle);
        Comm await_resume();
    };
    struct Opening {
        Comm& comm;
        std::size_t bytes;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle);
        Window await_resume();
    };

    Until send(Bytes data, int to, int tag = 0) { return {engine(), mine_, isend(data, to, tag)}; }
    Until recv(Bytes data, int from, int tag = 0) { return {engine(), mine_, irecv(data, from, tag)}; }
    Both sendrecv(Bytes out, int to, Bytes in, int from, int tag = 0) {
        const Request coming = irecv(in, from, tag);
        return {engine(), mine_, {isend(out, to, tag), coming}};
    }
    Request isend(Bytes data, int to, int tag = 0) {
        return engine().send(mine_, group_->world_rank(to), {group_->context, rank_, tag}, data);
    }
    Request irecv(Bytes data, int from, int tag = 0) {
        return engine().receive(mine_, group_->world_rank(from), {group_->context, from, tag}, data);
    }
    Wait recv_any(Bytes data, int tag = 0) {
        return {
            engine(), mine_,
            engine().receive(mine_, machine::any_source, {group_->context, machine::any_source, tag}, data)};
    }
    Until wait(Request& request) { return {engine(), mine_, std::exchange(request, machine::no_operation)}; }
    Test test(Request& request) { return {engine(), mine_, request}; }
    All wait_all(std::span<Request> requests) { return {engine(), mine_, requests}; }
    Any wait_any(std::span<Request> requests) { return {engine(), mine_, requests}; }
    Meeting barrier() { return {*this, "in a barrier", "barrier"}; }
    Meeting bcast(Bytes data, int root) {
        return {*this, "in a bcast", "bcast", root, static_cast<std::int64_t>(data.size())};
    }
    Meeting allreduce(Bytes in, Bytes, Type type, Reduce reduce) {
        return {*this, "in an allreduce", "allreduce", 0, static_cast<std::int64_t>(in.size()), type, reduce};
    }
    Parting split(int color, int key) {
        return {*this, (static_cast<std::int64_t>(color) << 32) | static_cast<std::uint32_t>(key), false};
    }
    Parting dup() { return {*this, 0, true}; }
    Parting cart(std::span<const int> dimensions, bool periodic);
    [[nodiscard]] Neighbours shift(int dimension, int by) const;
    Opening window(std::size_t bytes, Exposure exposure);

private:
    friend class Control;
    [[nodiscard]] sim::Engine& engine() const { return world_->engine; }
    sim::World* world_;
    sim::Group* group_;
    std::int32_t rank_;
    std::int32_t mine_;  // rank of the world
};

class Control {
public:
    static constexpr bool simulated = true;
    Control(sim::World* world, int rank, int ranks) : world_(world), rank_(rank), ranks_(ranks) {}
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return ranks_; }
    [[nodiscard]] double now() const { return machine::seconds(world_->engine.clock(rank_)); }

    struct Agreement {
        Control& control;
        std::span<const double> mine;
        Decide decide;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle);
        Verdict await_resume() { return control.world_->verdict; }
    };
    Agreement agree(std::span<const double> mine, const Decide& decide) { return {*this, mine, decide}; }
    Ready<> busy(double seconds) { return pass(machine::from_seconds(seconds)); }
    Ready<> work(std::int64_t steps);
    Ready<> charge(Work work);

private:
    Ready<> pass(machine::Time time) {
        world_->engine.spend(rank_, time);
        return {};
    }
    sim::World* world_;
    std::int32_t rank_;
    std::int32_t ranks_;
};

// The described machine of a job, on which programs are run one after the other.
class Session {
public:
    static constexpr bool simulated = true;
    Session(int&, char**&) {}
    // Takes the "simulate" part of a job. Throws std::invalid_argument for what it cannot be.
    void configure(const nlohmann::json& job);

    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] int size() const { return static_cast<int>(seats_.size()); }
    static void broadcast(std::string&) {}
    static std::vector<double> gather(const std::vector<double>& mine) { return mine; }
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }  // of the simulator itself
    [[nodiscard]] nlohmann::json facts(const std::vector<std::string>&) const;
    [[nodiscard]] bool exact() const { return !noise_; }

    // Every rank's program, all to their ends. Throws what the first rank threw, or machine::Deadlock.
    template <class Program>
    void run(Program program) {
        begin();
        std::vector<Task<>> tasks;
        tasks.reserve(seats_.size());
        for (int rank = 0; rank < size(); ++rank) {
            tasks.push_back(
                program(Comm(*world_, world_->groups.front(), rank), Control(world_.get(), rank, size())));
            world_->engine.start(rank, tasks.back().handle());
        }
        int failed = -1;
        world_->engine.run([&](int rank) {
            if (!tasks[static_cast<std::size_t>(rank)].failed()) return false;
            failed = rank;
            return true;
        });
        end();
        if (failed >= 0) tasks[static_cast<std::size_t>(failed)].finish();
    }
    // Whether the point must be asked again, since a dearer tier is needed for the truth.
    [[nodiscard]] bool again();
    [[nodiscard]] nlohmann::json answered() const;
    [[noreturn]] static void abandon() { std::exit(1); }

private:
    void begin();
    void end();

    std::vector<Place> places_{my_place()};
    machine::Machine machine_;
    std::unique_ptr<machine::Topology> topology_;
    std::vector<machine::Seat> seats_;
    std::string network_ = "auto";
    std::string protocol_ = "default";
    std::uint64_t seed_ = 1;
    bool noise_ = false;
    std::string dearer_;  // the tier to ask the point of anew, where loggp was not the truth
    std::unique_ptr<sim::World> world_;
    std::set<std::string> answered_;
};

}  // namespace leadline
