// Messages of one rank to another are met in the order of sending, on networks where some may overtake
// others.
#include <algorithm>
#include <bit>

#include "machine/engine.hpp"

namespace leadline::machine {

bool Engine::placed_by_bits() const {
    if (by_bits_) return *by_bits_;
    const auto power = [](int count) { return std::has_single_bit(static_cast<unsigned>(count)); };
    by_bits_ = topology_.grid() && power(ranks()) && std::ranges::all_of(topology_.axes(), power);
    for (int rank = 1; *by_bits_ && rank < ranks(); ++rank) {
        const int rest = rank & (rank - 1);
        const int node = placement(rank).node;
        by_bits_ = rest == 0 ? placement(0).node == 0 && power(node)
                             : node == (placement(rest).node ^ placement(rank ^ rest).node);
    }
    return *by_bits_;
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
