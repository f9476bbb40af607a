// Messages that nobody had received when a recorded program ended: it really ran so, and is executed so.
#pragma once

#include <cstdint>
#include <vector>

#include "program/file.hpp"

namespace leadline::program {

// A communicator that a rank is in, and its place there.
struct Membership {
    std::size_t communicator;
    int place;
};

// Of all ranks, by one pass over the members: a program may have many communicators of few ranks each. That
// in the world goes without saying.
std::vector<std::vector<Membership>> memberships(const Program& program);

// The last `count` messages of one rank to another with one tag; `received` were before them. Ranks are the
// communicator's.
struct LeftMessages {
    std::int32_t comm = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t tag = 0;
    std::int64_t received = 0;
    std::int64_t count = 0;
};

struct Left {
    std::vector<std::vector<LeftMessages>> by{};  // by whom, world ranks; empty: there are none
    std::vector<std::vector<LeftMessages>> to{};  // to whom
};

// What a recorded program's ranks sent beyond what was received of each with each tag; nothing of a program
// that was not recorded. What a receive of any source might have taken, which does not say what it met, is
// not told.
Left left_by(const Program& program);

}  // namespace leadline::program
