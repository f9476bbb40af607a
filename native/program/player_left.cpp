// Messages that a recorded program left behind, executed: whoever sent one went on at once, so it does here,
// whatever protocol the message takes.
#include <algorithm>

#include "program/player.hpp"

namespace leadline::program {

// Whether it is one of those, and counts it.
bool Player::leaves(const Step& send) {
    if (leaving_.empty()) return false;
    const int to = place(send, send.peer);
    const auto found = std::ranges::find_if(leaving_, [&](const Leaving& each) {
        return each.comm == send.comm && each.to == to && each.tag == send.tag;
    });
    return found != leaving_.end() && ++found->sent > found->received;
}

Task<> Player::clear() {
    if (left_behind_.to.empty()) co_return;
    // What waits for its receive must not be under way while others still execute.
    co_await run_.world().barrier();
    for (const LeftMessages& each : left_behind_.to[static_cast<std::size_t>(run_.rank())])
        for (std::int64_t i = 0; i < each.count; ++i)
            left_.push_back(numbered(each.comm).irecv(in_, each.from, each.tag));
    co_await run_.world().wait_all(left_);
    left_.clear();
}

}  // namespace leadline::program
