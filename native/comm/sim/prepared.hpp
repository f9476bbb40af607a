// What ranks of a described machine do together again and again: collectives, and sets of messages.
#pragma once

#include <coroutine>
#include <optional>
#include <span>
#include <vector>

#include "comm/sim/waits.hpp"
#include "comm/sim/world.hpp"
#include "comm/task.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

namespace sim {

// A rank of a communicator.
struct Member {
    World* world;
    Group* group;
    std::int32_t rank;  // in it
    std::int32_t mine;  // of the world

    [[nodiscard]] Engine& engine() const { return world->engine; }
    [[nodiscard]] Neighbours shift(int dimension, int by) const;
    // It calls what all ranks of the communicator call. Throws Mismatch.
    void enter(const Call& call, Form form) const;
    // Whether a collective is done message by message, since every rank has its own sizes or partners.
    [[nodiscard]] bool by_messages(const Call& call) const;
    struct Outgoing {
        int to;
        int tag;
        std::int64_t bytes;
    };
    // Begins all messages of such a one; or its receives, and says what is to be sent.
    void post(const Call& call, std::vector<machine::RequestId>& operations) const;
    std::vector<Outgoing> post_receives(const Call& call, std::vector<machine::RequestId>& operations) const;
    void send(const Outgoing& message, std::vector<machine::RequestId>& operations) const;
    void receive(int from, int tag, std::int64_t bytes, std::vector<machine::RequestId>& operations) const;
    [[nodiscard]] Task<> exchange(const Call& call) const;
};

// What is begun again has been ended: its operations make room. Throws std::logic_error where it is under
// way.
void begin_anew(std::vector<machine::RequestId>& operations);

// A collective begins, or is done where it blocks. The call is the caller's as long as this is awaited.
struct Doing {
    Member member;
    const Call& call;
    Form form;
    std::vector<machine::RequestId>* operations;  // under way from now on; null: the rank stops until its end
    Stay stay{};
    [[nodiscard]] bool await_ready() const { return member.group->ranks == 1 && !member.by_messages(call); }
    bool await_suspend(std::coroutine_handle<> handle);
    void await_resume() {
        if (stay.program) stay.program->finish();
    }
};

}  // namespace sim

class Prepared {
public:
    Prepared(const sim::Member& member, const Call& call, Form form)
        : member_(member), call_(call), form_(form) {}
    sim::Doing begin() {
        sim::begin_anew(operations_);
        return {member_, call_, form_, form_ == Form::blocking ? nullptr : &operations_};
    }
    sim::Test test() { return {member_.engine(), member_.mine, operations_}; }
    sim::All end() { return {member_.engine(), member_.mine, operations_}; }
    static Ready<> free() { return {}; }

private:
    sim::Member member_;
    Call call_;
    Form form_;
    std::vector<machine::RequestId> operations_{};
};

class Exchange {
public:
    Exchange(const sim::Member& member, std::span<const PersistentMessage> out,
             std::span<const PersistentMessage> in)
        : member_(member), out_(out.begin(), out.end()), in_(in.begin(), in.end()) {}
    Ready<> begin();
    sim::Test test() { return {member_.engine(), member_.mine, operations_}; }
    sim::All end() { return {member_.engine(), member_.mine, operations_}; }
    static Ready<> free() { return {}; }

private:
    sim::Member member_;
    std::vector<PersistentMessage> out_;
    std::vector<PersistentMessage> in_;
    std::vector<machine::RequestId> operations_{};
};

}  // namespace leadline
