#include "comm/sim/prepared.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace leadline {
namespace sim {
namespace {

// Tags of the messages that collectives consist of: all but a neighbourhood's are of one kind.
constexpr int plain = 0;

// Whether two calls are one to a described machine, where a buffer is only a length. Layouts and names are
// compared by where they are, since those of a call before may be gone.
bool same(const Call& a, const Call& b) {
    const auto at = [](const auto& each) { return std::pair(each.data(), each.size()); };
    return a.what == b.what && a.out.size() == b.out.size() && a.in.size() == b.in.size() &&
           a.root == b.root && a.type == b.type && a.reduce == b.reduce && at(a.gives) == at(b.gives) &&
           at(a.takes) == at(b.takes) && a.shape == b.shape && a.varies == b.varies &&
           a.in_place == b.in_place && at(a.algorithm) == at(b.algorithm);
}

bool has_layout(const Call& call) { return call.gives.data() || call.takes.data(); }

}  // namespace

std::shared_ptr<const KeptCall> World::kept(const Call& call, Form form) {
    for (const auto& known : calls_)
        if (known && known->form == form && same(known->call, call)) return known;
    auto& next = calls_[next_call_++ % calls_.size()];
    next = std::make_shared<const KeptCall>(KeptCall{.call = call, .form = form});
    return next;
}

Neighbours Member::shift(int dimension, int by) const {
    const auto& lengths = group->dimensions;
    int stride = 1;
    for (auto d = lengths.size(); d-- > static_cast<std::size_t>(dimension) + 1;) stride *= lengths[d];
    const int length = lengths.at(static_cast<std::size_t>(dimension));
    const int place = rank / stride % length;
    const auto at = [&](int wanted) {
        if (group->periodic) wanted = ((wanted % length) + length) % length;
        else if (wanted < 0 || wanted >= length) return Neighbours::nobody;
        return rank + (wanted - place) * stride;
    };
    return {at(place - by), at(place + by)};
}

bool Member::by_messages(const Call& call) const {
    switch (call.what) {
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall: return true;
        case Collective::alltoall: return has_layout(call);
        default: return false;
    }
}

void Member::send(const Outgoing& message, std::vector<machine::RequestId>& operations) const {
    // Content is none of a collective's: a size without memory.
    const std::span<const std::byte> data(static_cast<const std::byte*>(nullptr),
                                          static_cast<std::size_t>(message.bytes));
    operations.push_back(
        engine().send(mine, group->world_rank(message.to), {group->inner(), rank, message.tag}, data));
}

void Member::receive(int from, int tag, std::int64_t bytes,
                     std::vector<machine::RequestId>& operations) const {
    const std::span<std::byte> data(static_cast<std::byte*>(nullptr), static_cast<std::size_t>(bytes));
    operations.push_back(engine().receive(mine, group->world_rank(from), {group->inner(), from, tag}, data));
}

void Member::enter(const Call& call, Form form) const {
    // What goes on beside a rank's program has no core there.
    if (engine().machine().node.loggops && form != Form::blocking && !by_messages(call))
        throw Unsupported("on a machine with node.loggops collectives are blocking, and this " +
                          std::string(name_of(call.what)) + " is not");
    if (const machine::Symmetry* symmetry = engine().conditions().symmetry) {
        // Where ranks stand for others none is a root, or has sizes of its own. A grid of ranks is by
        // numbers.
        const bool alike = !has_root(call.what) && call.what != Collective::scan && !has_layout(call) &&
                           !call.varies && !(by_messages(call) && symmetry->along_axes());
        if (!alike) throw machine::Asymmetric();
    }
    group->calls.enter(*group, rank, call, form);
}

void Member::post(const Call& call, std::vector<machine::RequestId>& operations) const {
    for (const Outgoing& each : post_receives(call, operations)) send(each, operations);
}

std::vector<Member::Outgoing> Member::post_receives(const Call& call,
                                                    std::vector<machine::RequestId>& operations) const {
    std::vector<Outgoing> sends;
    if (call.what == Collective::alltoall) {
        if (!call.algorithm.empty() && call.algorithm != "linear")
            throw Unsupported("blocks that vary are all sent at once, not by '" +
                              std::string(call.algorithm) + "'");
        const auto goes = [&](const Part& part) {
            return part.bytes > 0 && (!call.in_place || part.peer != rank);
        };
        for (const Part& part : call.takes)
            if (goes(part)) receive(part.peer, plain, part.bytes, operations);
        for (const Part& part : call.gives)
            if (goes(part)) sends.push_back({part.peer, plain, part.bytes});
        return sends;
    }
    const auto dimensions = static_cast<int>(group->dimensions.size());
    if (dimensions == 0) throw Unsupported("neighbours are those of a grid, and this communicator is none");
    // A neighbour knows a message by the side from which it comes; two may be the same rank. 2 * dimension is
    // the rank below, one more the one above.
    const auto neighbour = [&](int number) {
        const Neighbours both = shift(number / 2, 1);
        return number % 2 == 0 ? both.down : both.up;
    };
    const auto each = [&](Layout layout, std::size_t whole, auto exchanged) {
        if (layout.data()) {
            for (const Part& part : layout)
                if (part.bytes > 0 && neighbour(part.peer) != Neighbours::nobody)
                    exchanged(part.peer, part.bytes);
            return;
        }
        for (int number = 0; number < 2 * dimensions; ++number)
            if (neighbour(number) != Neighbours::nobody)
                exchanged(number, static_cast<std::int64_t>(whole) / dimensions / 2);
    };
    const bool all = call.what == Collective::neighbor_allgather;
    each(call.takes, call.in.size(),
         [&](int number, std::int64_t bytes) { receive(neighbour(number), number, bytes, operations); });
    each(call.gives, all ? call.out.size() * static_cast<std::size_t>(2 * dimensions) : call.out.size(),
         [&](int number, std::int64_t bytes) {
             sends.push_back({neighbour(number), number ^ 1, bytes});
         });
    return sends;
}

Task<> Member::exchange(const Call& call) const {
    std::vector<machine::RequestId> operations;
    const std::vector<Outgoing> sends = post_receives(call, operations);
    for (const Outgoing& each : sends) {
        co_await Turn{engine(), mine, true};
        send(each, operations);
    }
    co_await All{engine(), mine, operations};
}

bool Member::stop_for(const Call& call, std::coroutine_handle<> handle, Stay& stay) const {
    enter(call, Form::blocking);
    if (!by_messages(call)) return world->stop_for(*group, rank, handle, call, stay);
    stay.program = exchange(call);
    return stay.program.await_suspend(handle);
}

void begin_anew(std::vector<machine::RequestId>& operations) {
    if (std::ranges::any_of(operations, [](auto each) { return each != machine::no_request; }))
        throw std::logic_error("an operation was begun again before it was ended");
    operations.clear();
}

bool Doing::await_suspend(std::coroutine_handle<> handle) { return member.stop_for(call, handle, stay); }

}  // namespace sim

bool Prepared::begin(std::coroutine_handle<> handle, sim::Stay& stay) {
    const auto& [call, form] = *kept_;
    if (form == Form::blocking) return member_.stop_for(call, handle, stay);
    member_.enter(call, form);
    if (member_.by_messages(call)) member_.post(call, operations_);
    else operations_.push_back(member_.world->begin(*member_.group, member_.rank, call));
    return false;
}

Ready<> Exchange::begin() {
    sim::begin_anew(operations_);
    sim::Engine& engine = member_.engine();
    const sim::Group& group = *member_.group;
    for (const PersistentMessage& each : in_)
        operations_.push_back(engine.receive(member_.mine, group.world_rank(each.peer),
                                             {group.context, each.peer, each.tag}, each.data));
    for (const PersistentMessage& each : out_)
        operations_.push_back(engine.send(member_.mine, group.world_rank(each.peer),
                                          {group.context, member_.rank, each.tag}, each.data));
    return {};
}

}  // namespace leadline
