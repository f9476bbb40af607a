// Messages of one rank to another are met in the order of sending, on networks where some may overtake
// others.
#include "machine/engine.hpp"

namespace leadline::machine {

bool Engine::find_tapered() const {
    for (Link link = 0; link < topology_.links(); ++link)
        if (const double width = topology_.width(link); width != 1 && width != 0) return true;
    return false;
}

bool Engine::in_line(const Message& message) const {
    return crossings_.has_value() || (overtaking_ && !local(message.from, message.to));
}

// Whether data that are there have crossed others on their way, and come the later for it.
bool Engine::waits_to_cross(std::uint32_t id) {
    Message& message = messages_[id];
    if (message.crossed || message.from == message.to) return false;
    const Time more = message.protocol->crossing_latency;
    message.crossed = crossings_->arrives(message.from, message.to, message.handed, now_) && more > 0;
    if (message.crossed) has_come(id, now_ + more);
    return message.crossed;
}

std::uint64_t Engine::pair(const Message& message) {
    return (static_cast<std::uint64_t>(message.from) + 1) << 32U | static_cast<std::uint32_t>(message.to);
}

PairQueue& Engine::queue(const Message& message) {
    std::int32_t& at = pairs_[pair(message)];
    if (at < 0) at = static_cast<std::int32_t>(queues_.take());
    return queues_[static_cast<std::uint32_t>(at)];
}

void Engine::come_in_turn(std::uint32_t id) {
    const Message& message = messages_[id];
    if (!in_line(message)) {
        match_envelope(id);
        return;
    }
    PairQueue& all = queue(message);
    if (message.turn != all.due) {
        all.early.emplace(message.turn, id);
        return;
    }
    const std::uint64_t key = pair(message);
    for (;;) {
        ++all.due;
        match_envelope(id);  // which may forget the message
        const auto next = all.early.begin();
        if (next == all.early.end() || next->first != all.due) break;
        id = next->second;
        all.early.erase(next);
    }
    if (all.due != all.sent) return;
    const auto at = static_cast<std::uint32_t>(pairs_[key]);
    pairs_.erase(key);
    queues_[at] = {};
    queues_.give_back(at);
}

}  // namespace leadline::machine
