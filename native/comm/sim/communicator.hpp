// The words between ranks of a described machine: every one charges a simulated rank's clock, and suspends
// the rank until what it needs has happened there.
//
// Messages bring at most 16 B of content: enough for a program's own small talk; what is larger, and whatever
// a collective brings, is only time.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "comm/sim/prepared.hpp"
#include "comm/sim/waits.hpp"
#include "comm/sim/window.hpp"
#include "comm/sim/world.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

class Comm {
public:
    using Request = machine::RequestId;
    using Window = leadline::Window;
    using Prepared = leadline::Prepared;
    using Exchange = leadline::Exchange;

    Comm(sim::World& world, sim::Group& group, int rank)
        : me_{&world, &group, rank, group.world_rank(rank)} {}
    [[nodiscard]] int rank() const { return me_.rank; }
    [[nodiscard]] int size() const { return me_.group->ranks; }
    [[nodiscard]] int distance(int a, int b) const;
    [[nodiscard]] NodePlace placement(int rank) const;
    [[nodiscard]] std::vector<int> axes() const;
    [[nodiscard]] std::vector<int> coordinates(int rank) const;

    // A word that makes a communicator.
    struct Parting {
        Comm& comm;
        std::int64_t given;  // colour and key; the same for all: a copy
        bool copies;
        std::span<const int> dimensions{};  // of a grid, the caller's
        bool periodic = false;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle) const;
        [[nodiscard]] Comm await_resume() const;
    };
    struct Opening {
        Comm& comm;
        std::size_t bytes;
        bool await_ready() { return false; }
        void await_suspend(std::coroutine_handle<> handle) const;
        [[nodiscard]] Window await_resume() const;
    };
    // A collective whose call nobody but this holds: what is in it of a call, for there is one of them for
    // each rank. What it brings and takes is only time, so that of the buffers their sizes are kept.
    struct Called {
        sim::Member member;
        Collective what;
        std::int32_t root = 0;
        std::size_t out = 0;
        std::size_t in = 0;
        Type type = Type::float64;
        Reduce reduce = Reduce::sum;
        sim::Stay stay{};
        [[nodiscard]] bool await_ready() const { return member.group->ranks == 1; }
        bool await_suspend(std::coroutine_handle<> handle) {
            std::byte* const nothing = nullptr;
            const Call call{.what = what,
                            .out = {nothing, out},
                            .in = {nothing, in},
                            .root = root,
                            .type = type,
                            .reduce = reduce};
            member.enter(call, Form::blocking);
            return member.world->stop_for(*member.group, member.rank, handle, call, stay);
        }
        void await_resume() {
            if (stay.program) stay.program.finish();
        }
    };

    sim::Until send(Bytes data, int to, int tag = 0) {
        return {engine(), me_.mine, send_blocking(data, to, tag)};
    }
    sim::Until recv(Bytes data, int from, int tag = 0) {
        return {engine(), me_.mine, irecv(data, from, tag)};
    }
    sim::Both sendrecv(Bytes out, int to, Bytes in, int from, int tag = 0) {
        const Request coming = irecv(in, from, tag);
        return {engine(), me_.mine, {send_blocking(out, to, tag), coming}};
    }
    Request isend(Bytes data, int to, int tag = 0) {
        check_peer(to);
        return engine().send(me_.mine, me_.group->world_rank(to), {me_.group->context, me_.rank, tag}, data);
    }
    Request irecv(Bytes data, int from, int tag = 0) {
        check_peer(from);
        return engine().receive(me_.mine, me_.group->world_rank(from), {me_.group->context, from, tag}, data);
    }
    Request irecv_any(Bytes data, int tag = 0) {
        const machine::Envelope wanted{me_.group->context, machine::any_source, tag};
        return engine().receive(me_.mine, machine::any_source, wanted, data);
    }
    sim::Wait recv_any(Bytes data, int tag = 0) { return {engine(), me_.mine, irecv_any(data, tag)}; }
    sim::Until wait(Request& request) {
        return {engine(), me_.mine, std::exchange(request, machine::no_request)};
    }
    sim::Test test(Request& request) { return {engine(), me_.mine, {&request, 1}}; }
    sim::All wait_all(std::span<Request> requests) { return {engine(), me_.mine, requests}; }
    sim::Any wait_any(std::span<Request> requests) { return {engine(), me_.mine, requests}; }
    Ready<> combine(Bytes in, Bytes, Type, Reduce) {
        engine().spend(me_.mine, engine().combine_cost(static_cast<std::int64_t>(in.size())));
        return {};
    }
    Ready<> copy(Bytes in, Bytes) {
        engine().spend(me_.mine, engine().copy_cost(static_cast<std::int64_t>(in.size())));
        return {};
    }
    Called barrier() { return {.member = me_, .what = Collective::barrier}; }
    Called bcast(Bytes data, int root) {
        return {.member = me_, .what = Collective::bcast, .root = root, .in = data.size()};
    }
    Called allreduce(Bytes in, Bytes out, Type type, Reduce reduce) {
        return {.member = me_,
                .what = Collective::allreduce,
                .out = in.size(),
                .in = out.size(),
                .type = type,
                .reduce = reduce};
    }
    sim::Doing collective(const Call& call) { return {me_, call}; }
    Ready<Prepared> prepare(const Call& call, Form form) { return {Prepared(me_, call, form)}; }
    Exchange prepare_exchange(std::span<const PersistentMessage> out, std::span<const PersistentMessage> in) {
        return {me_, out, in};
    }
    Parting split(int color, int key) {
        return {*this, (static_cast<std::int64_t>(color) << 32) | static_cast<std::uint32_t>(key), false};
    }
    Parting dup() { return {*this, 0, true}; }
    Parting cart(std::span<const int> dimensions, bool periodic);
    [[nodiscard]] Neighbours shift(int dimension, int by) const { return me_.shift(dimension, by); }
    Opening window(std::size_t bytes, Exposure exposure);

private:
    friend class Control;
    void check_peer(int peer) const {
        if (static_cast<unsigned>(peer) >= static_cast<unsigned>(size())) [[unlikely]]
            no_rank(peer);
    }
    Request send_blocking(Bytes data, int to, int tag) {
        check_peer(to);
        return engine().send_blocking(me_.mine, me_.group->world_rank(to),
                                      {me_.group->context, me_.rank, tag}, data);
    }
    [[noreturn]] void no_rank(int peer) const;  // throws std::out_of_range
    [[nodiscard]] sim::Engine& engine() const { return me_.world->engine; }
    sim::Member me_;
};

}  // namespace leadline
