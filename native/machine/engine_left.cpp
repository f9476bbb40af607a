// What a run ends with when it does not end well: ranks that wait for one another, ranks that ask for ever,
// messages that do not fit, and what is left behind when all have ended.
#include <string>

#include "machine/engine.hpp"

namespace leadline::machine {
namespace {

constexpr int most_told = 8;  // ranks of a deadlock that the sentence names
constexpr int most_left = 3;  // of each kind that was left behind
// Questions that a program may ask although nothing is under way: so many, and so many a rank.
constexpr std::size_t most_asked = 1'000'000;
constexpr std::size_t most_asked_each = 1'000;

std::string name(int rank) { return rank < 0 ? "any rank" : "rank " + std::to_string(rank); }

// A kind of thing that was left behind: how many, and the first of them.
class Left {
public:
    Left(std::string one, std::string several) : one_(std::move(one)), several_(std::move(several)) {}
    void add(const std::string& which) {
        if (count_++ < most_left) named_ += (named_.empty() ? "" : ", ") + which;
    }
    [[nodiscard]] std::string text() const {
        if (count_ == 0) return "";
        return "; " + std::to_string(count_) + " " + (count_ == 1 ? one_ : several_) + ": " + named_ +
               (count_ > most_left ? ", ..." : "");
    }

private:
    std::string one_, several_;
    std::string named_{};
    std::size_t count_ = 0;
};

std::string tagged(bool inner, std::int32_t tag) {
    return inner ? " of a collective" : " with tag " + std::to_string(tag);
}

}  // namespace

std::string Engine::doing(RequestId operation) const {
    const RequestState& pending = operations_[operation];
    if (pending.peer == everybody) return "a collective that it has begun";
    return (pending.receives ? "a message from " : "its send to ") + name(pending.peer) +
           tagged(pending.inner, pending.tag);
}

std::string Engine::who_waits() const {
    // The first thing that each rank waits for.
    std::vector<RequestId> open(ranks_.size(), no_request);
    for (RequestId id = 1; id < operations_.size(); ++id) {
        const RequestState& pending = operations_[id];
        if (pending.rank == nobody || pending.done != never || !pending.awaited) continue;
        auto& held = open[static_cast<std::size_t>(home(pending.rank))];
        if (held == no_request) held = id;
    }
    std::string said = "deadlock: ";
    std::vector<bool> told(ranks_.size());
    int count = 0;
    int waiting = 0;
    // From a rank to the one that it waits for, as long as there is one that was not told of.
    const auto tell = [&](int rank) {
        while (rank >= 0 && !at(rank).ended && !told[static_cast<std::size_t>(rank)] && count < most_told) {
            told[static_cast<std::size_t>(rank)] = true;
            if (count++) said += ", ";
            const RequestId id = open[static_cast<std::size_t>(rank)];
            if (at(rank).parked || id == no_request) {
                said += name(rank) + " waits " + (at(rank).parked ? at(rank).parked : "for nothing known");
                return;
            }
            const RequestState& pending = operations_[id];
            const int peer = pending.peer;
            said += name(rank) + " waits for " + doing(id);
            if (peer == everybody) return;
            if (peer >= 0 && at(peer).ended) said += ", which has ended";
            if (const Envelope* other = pending.receives ? unexpected_.first(rank) : nullptr)
                said += " (a message" + tagged(other->context < 0, other->tag) + " is there)";
            rank = peer;
        }
    };
    // Those who have come to a meeting wait for the others: these first.
    for (const bool met : {false, true})
        for (int rank = 0; rank < players_; ++rank) {
            if (at(rank).ended || (at(rank).parked != nullptr) != met) continue;
            ++waiting;
            tell(rank);
        }
    if (const int more = waiting - count; more > 0)
        said += ", and " + std::to_string(more) + (more == 1 ? " rank more waits" : " ranks more wait");
    return said;
}
// A rank asks whether something is over. Where nothing else is under way, only what ranks do after so many
// questions could change the answer, and by then nobody will.
void Engine::ask() {
    --asking_;
    if (events_.size() != asking_ || network_->next() != never) {
        in_vain_ = 0;
        return;
    }
    if (++in_vain_ < most_asked + most_asked_each * ranks_.size()) return;
    in_vain_ = 0;
    throw Livelock("endless loop: " + name(home(operations_[asked_].rank)) + " has asked " +
                   std::to_string(most_asked) + " times for " + doing(asked_) + ", and nothing is under way");
}

void Engine::does_not_fit(const Message& message, std::size_t room) const {
    throw Truncation(name(message.from) + " sent " + std::to_string(message.bytes) + " B" +
                     tagged(message.envelope.context < 0, message.envelope.tag) + " to " + name(message.to) +
                     ", whose receive has room for " + std::to_string(room) + " B");
}

void Engine::check_nothing_left() const {
    if (operations_.used() == 1 && unexpected_.entries() == 0 && posted_.entries() == 0) return;
    Left messages("message was never received", "messages were never received");
    Left receives("receive was met by no message", "receives were met by no message");
    Left operations("operation was never waited for", "operations were never waited for");
    unexpected_.each([&](int rank, const Envelope& envelope, std::uint32_t id) {
        const Message& message = messages_[id];
        messages.add(name(message.from) + " sent " + std::to_string(message.bytes) + " B" +
                     tagged(envelope.context < 0, envelope.tag) + " to " + name(rank));
    });
    posted_.each([&](int rank, const Envelope& envelope, RequestId id) {
        receives.add(name(rank) + " expects one from " + name(operations_[id].peer) +
                     tagged(envelope.context < 0, envelope.tag));
    });
    // What is under way still is one of those, or a collective that others did not begin.
    for (RequestId id = 1; id < operations_.size(); ++id) {
        const RequestState& pending = operations_[id];
        if (pending.rank != nobody && (pending.done != never || pending.peer == everybody))
            operations.add(name(home(pending.rank)) + " for " + doing(id));
    }
    const std::string all = messages.text() + receives.text() + operations.text();
    throw Unfinished("the program has ended and left something behind" + all);
}

}  // namespace leadline::machine
