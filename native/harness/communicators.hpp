// The communicators that a collective can be asked of, under the names that points use for them.
#pragma once

#include <string>
#include <vector>

#include "harness/run.hpp"

namespace leadline {

// All ranks; a copy of that; all but the last, which hardware made for all does not serve.
inline const std::vector<std::string> communicators{"world", "dup", "world-1"};

// Whether this rank belongs to the point's communicator.
inline bool takes_part(const Run& run) {
    return run.word("communicator") != "world-1" || run.rank() + 1 < run.ranks();
}

// The point's communicator; for a rank that has no part in it, one of its own.
inline Task<Comm> communicator(Run& run) {
    const std::string& name = run.word("communicator");
    if (name == "dup") co_return co_await run.world().dup();
    if (name == "world-1") co_return co_await run.world().split(takes_part(run) ? 0 : 1, 0);
    co_return run.world();
}

}  // namespace leadline
