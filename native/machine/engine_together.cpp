// Short messages of collectives that ranks of one node have for one other node travel as one, on machines
// where they do. The first of them waits, the less the more of its node's ranks have come with theirs.
#include <algorithm>
#include <utility>

#include "machine/engine.hpp"

namespace leadline::machine {

// Those of this run: cores without a rank have nothing that could be waited for.
int Engine::ranks_on_node(int rank) const {
    if (on_node_.empty()) {
        on_node_.resize(static_cast<std::size_t>(topology_.nodes()));
        for (const Placement& each : placements_) ++on_node_[static_cast<std::size_t>(each.node)];
    }
    return on_node_[static_cast<std::size_t>(placement(rank).node)];
}

bool Engine::travels_together(const Message& message) const {
    return message.envelope.context < 0 && message.leg == Leg::data && !message.protocol->handshake &&
           message.bytes <= machine_.coalesce.up_to && !local(message.from, message.to) &&
           ranks_on_node(message.from) > 1;
}

void Engine::join_others(std::uint32_t id) {
    const Message& message = messages_[id];
    const std::uint64_t key = (static_cast<std::uint64_t>(placement(message.from).node) + 1) << 32U |
                              static_cast<std::uint32_t>(placement(message.to).node);
    std::int32_t& at = waiting_[key];
    if (at < 0) {
        at = static_cast<std::int32_t>(bundles_.take());
        Bundle& made = bundles_[static_cast<std::uint32_t>(at)];
        made.began = now_;
        made.key = key;
        made.messages.clear();
    }
    const auto number = static_cast<std::uint32_t>(at);
    Bundle& bundle = bundles_[number];
    bundle.messages.push_back(id);
    const int ranks = ranks_on_node(message.from);
    const int missing = std::max(0, ranks - static_cast<int>(bundle.messages.size()));
    bundle.until = std::max(now_, bundle.began + machine_.coalesce.wait * missing / (ranks - 1));
    events_.push(bundle.until, {Kind::together, number});
}

void Engine::go_together(std::uint32_t number) {
    Bundle& bundle = bundles_[number];
    if (bundle.messages.empty() || bundle.until > now_) return;  // it has gone, or waits for another moment
    const auto messages = std::exchange(bundle.messages, {});
    waiting_.erase(bundle.key);
    bundles_.give_back(number);
    std::int64_t bytes = 0;
    for (const std::uint32_t each : messages)
        bytes += messages_[each].bytes + messages_[each].protocol->header;
    const std::uint32_t first = messages.front();
    const int from = messages_[first].from;
    const int to = messages_[first].to;
    if (messages.size() > 1) together_.emplace(first, messages);
    send_out(first, from, to, bytes);
}

}  // namespace leadline::machine
