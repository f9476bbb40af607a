// What ranks of a described machine do together again and again: collectives, and sets of messages.
#pragma once

#include <coroutine>
#include <memory>
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
    // It does a collective that blocks; whether it stops for it.
    bool stop_for(const Call& call, std::coroutine_handle<> handle, Stay& stay) const;
};

// What is begun again has been ended: its operations make room. Throws std::logic_error where it is under
// way.
void begin_anew(std::vector<machine::RequestId>& operations);

// A collective is done at once. The call is the caller's as long as this is awaited.
struct Doing {
    Member member;
    const Call& call;
    Stay stay{};
    [[nodiscard]] bool await_ready() const { return member.group->ranks == 1 && !member.by_messages(call); }
    bool await_suspend(std::coroutine_handle<> handle);
    void await_resume() {
        if (stay.program) stay.program.finish();
    }
};

}  // namespace sim

// A collective that is done again and again. Each of a million ranks keeps one, so that ranks that ask for
// the same share its call.
class Prepared {
public:
    Prepared(const sim::Member& member, const Call& call, Form form)
        : member_(member), kept_(member.world->kept(call, form)) {}

    // It begins, or is done where it blocks.
    struct Begin {
        Prepared& what;
        sim::Stay stay{};
        [[nodiscard]] bool await_ready() const { return what.is_nothing(); }
        bool await_suspend(std::coroutine_handle<> handle) { return what.begin(handle, stay); }
        void await_resume() {
            if (stay.program) stay.program.finish();
        }
    };
    Begin begin() {
        sim::begin_anew(operations_);
        return {*this};
    }
    sim::Test test() { return {member_.engine(), member_.mine, operations_}; }
    struct End {
        Prepared& what;
        [[nodiscard]] sim::All all() const {
            return {what.member_.engine(), what.member_.mine, what.operations_};
        }
        static constexpr bool await_ready() { return false; }
        [[nodiscard]] bool await_suspend(std::coroutine_handle<> handle) const {
            return all().await_suspend(handle);
        }
        void await_resume() const { all().await_resume(); }
    };
    End end() { return {*this}; }
    static Ready<> free() { return {}; }

private:
    [[nodiscard]] bool is_nothing() const {
        return member_.group->ranks == 1 && !member_.by_messages(kept_->call);
    }
    bool begin(std::coroutine_handle<> handle, sim::Stay& stay);

    sim::Member member_;
    std::shared_ptr<const sim::KeptCall> kept_;
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
