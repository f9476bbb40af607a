#include "machine/crossings.hpp"

#include <algorithm>

namespace leadline::machine {

std::uint64_t Crossings::key(int from, int to) {
    const auto [low, high] = std::minmax(from, to);
    return static_cast<std::uint64_t>(low) << 32U | static_cast<std::uint32_t>(high);
}

void Crossings::leaves(int from, int to, Time now) { pairs_[key(from, to)].left[from > to].push_back(now); }

bool Crossings::arrives(int from, int to, Time left, Time now) {
    const auto found = pairs_.find(key(from, to));
    Pair& pair = found->second;
    std::vector<Time>& mine = pair.left[from > to];
    const std::vector<Time>& theirs = pair.left[from < to];
    const bool crossed = pair.last[from < to] > left ||
                         std::ranges::any_of(theirs, [&](const Time& other) { return other < now; });
    mine.erase(std::ranges::find(mine, left));
    if (now > left) pair.last[from > to] = now;
    if (mine.empty() && theirs.empty()) pairs_.erase(found);
    return crossed;
}

}  // namespace leadline::machine
