// What machines have that few others do: messages that come ahead of the receives that take them, grants that
// wait for data, and cores that move the packets of messages and of collectives alike.
#include <algorithm>
#include <utility>

#include "machine/engine.hpp"

namespace leadline::machine {

// A request that no receive is there for: it is granted at once if not too many come ahead already.
void Engine::grant_early(std::uint32_t id) {
    Message& message = messages_[id];
    RendezvousCredits& mine = credits_[static_cast<std::size_t>(message.to)];
    if (mine.coming >= machine_.node.rendezvous_credits) {
        mine.asking.push_back(id);
        return;
    }
    ++mine.coming;
    message.early = true;
    message.leg = Leg::grant;
    message.reached = never;
    hand_over(id, seen(message.to) + message.protocol->handshake_overhead);
}

// A receive has taken a message up, which is none that comes ahead any more. False where its rank is ahead of
// the time at which it posts the receive: until then the message comes ahead, or asks to.
bool Engine::taken_up(Message& message, std::uint32_t id, RequestId receive) {
    const bool comes = message.early ? message.reached == never : message.leg == Leg::request;
    if (const Time posted = operations_[receive].posted; comes && posted > now_) {
        message.receive = receive;
        RendezvousCredits& mine = credits_[static_cast<std::size_t>(message.to)];
        mine.known[id] = posted;
        at_time(posted, [this, id, posted, &mine] {
            if (const auto found = mine.known.find(id); found == mine.known.end() || found->second != posted)
                return;
            mine.known.erase(id);
            Message& late = messages_[id];
            if (late.early) {
                return_credit(late.to);
                return;
            }
            std::erase(mine.asking, id);
            late.leg = Leg::grant;
            hand_over(id, now_ + late.protocol->handshake_overhead);
        });
        return false;
    }
    if (!message.early) std::erase(credits_[static_cast<std::size_t>(message.to)].asking, id);
    else if (comes) return_credit(message.to);
    return true;
}

void Engine::return_credit(int rank) {
    RendezvousCredits& mine = credits_[static_cast<std::size_t>(rank)];
    --mine.coming;
    if (mine.asking.empty()) return;
    const std::uint32_t next = mine.asking.front();
    mine.asking.erase(mine.asking.begin());
    grant_early(next);
}

// Whether a grant may go, where it would wait behind data that its rank sends to the same other one, as on
// their connection: of two ways that ask at once the first has it.
bool Engine::may_grant(std::uint32_t id) {
    const Message& message = messages_[id];
    Granted& back = granted_[{message.to, message.from}];
    if (back.coming > 0) {
        back.waiting.push_back(id);
        return false;
    }
    ++granted_[{message.from, message.to}].coming;
    return true;
}

// Data have come: grants of their sender to their receiver that waited go now, if it was the last.
void Engine::let_grants_go(const Message& data) {
    const auto found = granted_.find({data.from, data.to});
    if (found == granted_.end() || --found->second.coming > 0) return;
    for (const std::uint32_t grant : std::exchange(found->second.waiting, {})) hand_over(grant, now_);
}

void Engine::lose_to_collective(int rank, const RequestState& pending) {
    Span& span = collectives_[static_cast<std::size_t>(rank)];
    const Time both = std::min(pending.done, span.until) - std::max(pending.posted, span.from);
    if (both <= 0) return;
    span.from = std::min(pending.done, span.until);  // lost once, however many messages there were
    spend(rank, scaled(both, machine_.node.contend));
}

}  // namespace leadline::machine
