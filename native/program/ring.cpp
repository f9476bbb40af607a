#include <utility>

#include "program/file.hpp"

namespace leadline::program {

Program ring(int ranks, std::int64_t bytes, std::int64_t turns) {
    Sequence sequence{.leaves = 1, .relative = true, .largest = bytes, .executed = turns};
    sequence.lists = {ranks - 1, 0, bytes};
    sequence.steps = {{.kind = Kind::loop, .leaf = 2, .bytes = turns},
                      {.kind = Kind::sendrecv, .peer = 1, .bytes = bytes, .takes = {.begin = 0, .size = 3}},
                      {.kind = Kind::end, .bytes = 0},
                      {}};
    Program made{.ranks = ranks};
    made.sequences.push_back(std::move(sequence));
    made.rank_sequence.assign(static_cast<std::size_t>(ranks), 0);
    made.before.push_back({0.0});
    made.rank_before = made.rank_sequence;
    Communicator& world = made.communicators.emplace_back();
    world.members.reserve(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) world.members.push_back(rank);
    return made;
}

}  // namespace leadline::program
