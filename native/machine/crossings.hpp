// Which data of two ranks to each other are under way at one time, where that makes them slower.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "machine/time.hpp"

namespace leadline::machine {

// Data cross that are both under way within some time of more than nothing, whatever happens first at one
// instant. What is forgotten cannot cross anything that leaves later.
class Crossings {
public:
    void leaves(int from, int to, Time now);
    // Whether data that left then and are there now have crossed any of the other way.
    bool arrives(int from, int to, Time left, Time now);

private:
    struct Pair {
        std::vector<Time> left[2]{};  // of what is under way, from the lower rank and from the higher one
        Time last[2] = {-1, -1};      // when the last came
    };
    [[nodiscard]] static std::uint64_t key(int from, int to);

    std::unordered_map<std::uint64_t, Pair> pairs_;
};

}  // namespace leadline::machine
