#include "backend.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "machine/hardware.hpp"
#include "machine/stages.hpp"

namespace leadline {

using machine::never;
using machine::no_operation;
using machine::Time;

// ---------------------------------------------------------------------------------------- the world

namespace sim {

World::World(const machine::Machine& machine, const machine::Topology& topology,
             std::vector<machine::Seat> seats, machine::Conditions conditions)
    : engine(machine, topology, std::move(seats), std::move(conditions)) {
    new_group({.whole = true, .ranks = engine.ranks()});
}

Group& World::new_group(Group&& made) {
    made.context = static_cast<std::int32_t>(groups.size());
    return groups.emplace_back(std::move(made));
}

void World::align(Group& group) const { std::ranges::fill(group.clocks, std::ranges::max(group.clocks)); }

void World::collective(Group& group, const std::string& operation, int root, std::int64_t bytes, Type type,
                       Reduce reduce) {
    const machine::Call call{.operation = operation,
                             .whole = group.whole,
                             .root = root,
                             .bytes = bytes,
                             .floating = type == Type::float32 || type == Type::float64,
                             .sums = reduce == Reduce::sum};
    if (machine::by_hardware(engine, group.members, call, group.clocks)) {
        answered.insert("hardware");
        return;
    }
    const auto& choices = engine.machine().collectives;
    const auto chosen = std::ranges::find_if(choices, [&](const machine::Choice& each) {
        return each.operation == operation && bytes <= each.up_to;
    });
    const std::string name = chosen != choices.end()    ? chosen->algorithm
                             : operation == "barrier"   ? "dissemination"
                             : operation == "allreduce" ? "recursive-doubling"
                                                        : "binomial";
    const auto* algorithm = collectives::find(operation, name);
    if (!algorithm) throw Unsupported("there is no algorithm '" + name + "' for " + operation);
    answered.merge(machine::Stages(engine, group.members)
                       .run(algorithm->stages(group.ranks, root, bytes), group.clocks));
}

void World::split(Group& group) {
    const auto ranks = static_cast<std::size_t>(group.ranks);
    std::vector<int> order(ranks);
    std::iota(order.begin(), order.end(), 0);
    // By colour, then key, then rank: the order of MPI_Comm_split.
    std::ranges::stable_sort(order, {}, [&](int rank) {
        return group.given[static_cast<std::size_t>(rank)] ^ (std::int64_t{1} << 31);
    });
    group.parts.assign(ranks, {});
    const auto colour = [&](int rank) { return group.given[static_cast<std::size_t>(rank)] >> 32; };
    for (std::size_t from = 0, to = 0; from < ranks; from = to) {
        while (to < ranks && colour(order[to]) == colour(order[from])) ++to;
        Group made{.ranks = static_cast<int>(to - from)};
        for (std::size_t i = from; i < to; ++i) made.members.push_back(group.world_rank(order[i]));
        Group& part = new_group(std::move(made));
        for (std::size_t i = from; i < to; ++i)
            group.parts[static_cast<std::size_t>(order[i])] = {&part, static_cast<int>(i - from)};
    }
}

}  // namespace sim

// ---------------------------------------------------------------------------------------- one-sided

Ready<> Window::put(Bytes data, int target, std::size_t) {
    open().push_back(world_->engine.put(mine(), shared_->group->world_rank(target),
                                        static_cast<std::int64_t>(data.size())));
    return {};
}

Ready<> Window::get(Bytes data, int target, std::size_t) {
    open().push_back(world_->engine.get(mine(), shared_->group->world_rank(target),
                                        static_cast<std::int64_t>(data.size())));
    return {};
}

bool Window::Flush::await_suspend(std::coroutine_handle<> handle) {
    return window.world_->engine.await_all(window.mine(), handle, window.open());
}

void Window::Flush::await_resume() {
    window.world_->engine.finish(window.mine(), window.open());
    window.open().clear();
}

Task<> Window::notify(int target) {
    co_await flush(target);
    sim::World& world = *world_;
    const auto shared = shared_;
    world.engine.signal(mine(), shared->group->world_rank(target), [&world, shared, target] {
        const auto at = static_cast<std::size_t>(target);
        if (++shared->notices[at] < shared->wanted[at] || shared->wanted[at] == 0) return;
        shared->wanted[at] = 0;
        world.engine.wake(shared->group->world_rank(target), world.engine.now());
    });
}

bool Window::Notified::await_ready() {
    return window.shared_->notices[static_cast<std::size_t>(window.rank_)] >= count;
}

void Window::Notified::await_suspend(std::coroutine_handle<> handle) {
    window.shared_->wanted[static_cast<std::size_t>(window.rank_)] = count;
    window.world_->engine.park(window.mine(), handle, "for a notice in a window");
}

// ---------------------------------------------------------------------------------------- communicators

int Comm::distance(int a, int b) const {
    const sim::Engine& here = engine();
    const int from = group_->world_rank(a);
    const int to = group_->world_rank(b);
    if (here.local(from, to)) return here.socket(from) == here.socket(to) ? same_group : same_node;
    return same_node + here.topology().hops(here.seat(from).node, here.seat(to).node);
}

bool Comm::Any::await_suspend(std::coroutine_handle<> handle) {
    if (std::ranges::all_of(operations, [](auto each) { return each == no_operation; })) return false;
    return engine.await_one(rank, handle, operations);
}

int Comm::Any::await_resume() {
    int first = -1;
    Time earliest = never;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (operations[i] == no_operation) continue;
        engine.disregard(operations[i]);
        if (const Time done = engine.done(operations[i]); done < earliest) {
            earliest = done;
            first = static_cast<int>(i);
        }
    }
    if (first >= 0)
        engine.finish(rank, std::exchange(operations[static_cast<std::size_t>(first)], no_operation));
    return first;
}

void Comm::Test::await_suspend(std::coroutine_handle<> handle) {
    engine.spend(rank, engine.machine().node.poll);
    engine.await_now(rank, handle);
}

bool Comm::Test::await_resume() {
    if (request == no_operation) return true;
    if (engine.done(request) > engine.clock(rank)) return false;
    engine.finish(rank, std::exchange(request, no_operation));
    return true;
}

void Comm::Meeting::await_suspend(std::coroutine_handle<> handle) {
    comm.world_->come(*comm.group_, comm.rank_, handle, why,
                      [&] { comm.world_->collective(*comm.group_, operation, root, bytes, type, reduce); });
}

void Comm::Parting::await_suspend(std::coroutine_handle<> handle) {
    sim::Group& group = *comm.group_;
    sim::World& world = *comm.world_;
    if (!copies) {
        group.given.resize(static_cast<std::size_t>(group.ranks));
        group.given[static_cast<std::size_t>(comm.rank_)] = given;
    }
    world.come(group, comm.rank_, handle, "for a communicator to be made", [&] {
        world.align(group);
        if (!copies) {
            world.split(group);
            return;
        }
        sim::Group& copy =
            world.new_group({.members = group.members, .whole = group.whole, .ranks = group.ranks});
        copy.dimensions.assign(dimensions.begin(), dimensions.end());
        copy.periodic = periodic;
        group.parts.assign(1, {&copy, 0});
    });
}

Comm Comm::Parting::await_resume() {
    // In a copy every rank is what it was.
    if (copies) return {*comm.world_, *comm.group_->parts.front().first, comm.rank_};
    const auto& [group, rank] = comm.group_->parts[static_cast<std::size_t>(comm.rank_)];
    return {*comm.world_, *group, rank};
}

Comm::Parting Comm::cart(std::span<const int> dimensions, bool periodic) {
    int cells = 1;
    for (const int length : dimensions) cells *= length;
    if (cells != size())
        throw Unsupported("a grid of " + std::to_string(cells) + " ranks is not a communicator of " +
                          std::to_string(size()));
    return {*this, 0, true, dimensions, periodic};
}

Neighbours Comm::shift(int dimension, int by) const {
    const auto& lengths = group_->dimensions;
    int stride = 1;
    for (auto d = lengths.size(); d-- > static_cast<std::size_t>(dimension) + 1;) stride *= lengths[d];
    const int length = lengths.at(static_cast<std::size_t>(dimension));
    const int place = rank_ / stride % length;
    const auto at = [&](int wanted) {
        if (group_->periodic) wanted = ((wanted % length) + length) % length;
        else if (wanted < 0 || wanted >= length) return Neighbours::nobody;
        return rank_ + (wanted - place) * stride;
    };
    return {at(place - by), at(place + by)};
}

Comm::Opening Comm::window(std::size_t bytes, Exposure exposure) {
    if (exposure != Exposure::allocated)
        throw Unsupported("a described machine has one kind of window, whoever allocates it");
    return {*this, bytes};
}

void Comm::Opening::await_suspend(std::coroutine_handle<> handle) {
    sim::World& world = *comm.world_;
    sim::Group& group = *comm.group_;
    world.come(group, comm.rank_, handle, "for a window to be made", [&] {
        world.align(group);
        const auto ranks = static_cast<std::size_t>(group.ranks);
        auto& memory = world.windows.emplace_back(std::max<std::size_t>(bytes, 64));
        group.opened =
            std::make_shared<sim::WindowState>(sim::WindowState{.group = &group, .memory = &memory});
        group.opened->open.resize(ranks);
        group.opened->notices.resize(ranks);
        group.opened->wanted.resize(ranks);
    });
}

Window Comm::Opening::await_resume() { return {*comm.world_, comm.group_->opened, comm.rank_}; }

// ---------------------------------------------------------------------------------------- the harness

void Control::Agreement::await_suspend(std::coroutine_handle<> handle) {
    sim::World& world = *control.world_;
    const auto rank = static_cast<std::size_t>(control.rank_);
    const std::size_t width = mine.size();
    if (world.values.size() != width * static_cast<std::size_t>(control.ranks_))
        world.values.resize(width * static_cast<std::size_t>(control.ranks_));
    std::ranges::copy(mine, world.values.begin() + static_cast<std::ptrdiff_t>(rank * width));
    if (rank == 0) world.decide = &decide;
    sim::Group& all = world.groups.front();
    world.come(all, control.rank_, handle, "for the next sample", [&] {
        world.verdict = (*world.decide)(world.values);
        world.align(all);
    });
}

Ready<> Control::work(std::int64_t steps) {
    // A step is one dependent addition: one a flop of the core, and a nanosecond where nothing is told of it.
    const double flops = world_->engine.machine().node.flops;
    const double each = flops < machine::infinite ? 1 / flops : 1e-9;
    return pass(machine::from_seconds(each * static_cast<double>(steps)));
}

Ready<> Control::charge(Work work) {
    const machine::Node& node = world_->engine.machine().node;
    // A core's share of its node's memory is what all its ranks leave it.
    const double seconds = std::max(work.flops / node.flops, work.bytes * node.ranks / node.memory);
    return pass(machine::from_seconds(seconds));
}

void Session::configure(const nlohmann::json& job) {
    if (!job.is_object()) throw std::invalid_argument("the job names no machine to simulate");
    machine_ = machine::parse_machine(job.at("machine"));
    topology_ = machine::make_topology(job.at("topology"));
    const int ranks = job.at("ranks").get<int>();
    network_ = job.value("network", network_);
    protocol_ = job.value("protocol", protocol_);
    seed_ = job.value("seed", seed_);
    noise_ = job.value("noise", false) && machine_.noise.present;
    seats_ = sim::take_seats(machine_, *topology_, ranks, job.value("mapping", std::string("XYZT")),
                             job.value("placement", std::string("default")));
}

nlohmann::json Session::facts(const std::vector<std::string>&) const {
    return {{"library", "leadline-sim"}, {"machine", machine_.name}, {"nodes", topology_->nodes()}};
}

void Session::begin() {
    const bool automatic = network_ == "auto";
    world_ = std::make_unique<sim::World>(machine_, *topology_, seats_,
                                          machine::Conditions{.network = !automatic        ? network_
                                                                         : dearer_.empty() ? "loggp"
                                                                                           : dearer_,
                                                              .gate = automatic && dearer_.empty(),
                                                              .seed = seed_,
                                                              .noise = noise_,
                                                              .protocol = protocol_});
}

void Session::end() {
    answered_ = world_->answered;
    if (world_->engine.messages() > 0) answered_.insert(world_->engine.conditions().network);
    const sim::Engine& engine = world_->engine;
    const bool settled = network_ != "auto" || !dearer_.empty();
    dearer_.clear();
    if (settled || engine.network().contention() <= machine::negligible) return;
    dearer_ = machine::tier_under_contention(
        machine_, engine.bytes() / static_cast<std::int64_t>(std::max<std::uint64_t>(engine.messages(), 1)));
}

bool Session::again() { return !dearer_.empty(); }

nlohmann::json Session::answered() const {
    std::string tiers;
    for (const auto& tier : answered_) tiers += (tiers.empty() ? "" : "+") + tier;
    return {{"network", tiers}};
}

}  // namespace leadline
