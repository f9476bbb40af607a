// How a run ends that does not end well; each with a sentence that names ranks and what they did.
#pragma once

#include <stdexcept>

namespace leadline::machine {

// Every rank that is left waits for something that nobody will do; says who waits for whom.
struct Deadlock : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A rank asks again and again whether something is over that nothing under way can end.
struct Livelock : Deadlock {
    using Deadlock::Deadlock;
};

// A message is longer than the memory that its receiver has for it.
struct Truncation : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// All ranks came to their ends and left something behind: a message that nobody received, a receive that no
// message met, an operation that nobody waited for.
struct Unfinished : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace leadline::machine
