// The slow simulator that is obviously right, and programs as data that it and the real one play.
//
// One queue of everything that will happen, one message at a time, and a rank does its next operation when
// that time has come: nothing runs ahead, nothing is computed at once, nothing is recycled. It knows the law
// of the tier `loggp` on machines without packets: what docs/machines.md says of overheads, copies, engines,
// ports and protocols. The other tiers must agree where no link or engine is shared.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/description.hpp"
#include "machine/mapping.hpp"
#include "machine/time.hpp"
#include "machine/topology.hpp"

namespace leadline::testing_sim {

using machine::Time;

struct Op {
    enum class What { compute, send, receive, wait, wait_all, put, get, flush };
    What what = What::compute;
    int part = 0;  // 0: the world; 1: the ranks of the same colour
    int peer = 0;  // rank there; any source: -1
    int tag = 0;
    std::int64_t bytes = 0;
    Time time = 0;                // of compute
    std::int64_t memory = 0;      // B that it may walk through meanwhile
    int request = 0;              // that a send or receive opens and a wait ends
    std::vector<int> requests{};  // of wait_all
};

struct Program {
    int colours = 1;                    // rank r has colour r % colours
    std::vector<std::vector<Op>> of{};  // of each rank
    int requests = 0;                   // of any rank

    [[nodiscard]] int ranks() const { return static_cast<int>(of.size()); }
    // A rank of a rank's part, in the world; and the world's, there.
    [[nodiscard]] int world(const Op& op, int rank) const {
        return op.part == 0 || op.peer < 0 ? op.peer : op.peer * colours + rank % colours;
    }
    [[nodiscard]] int within(int part, int rank) const { return part == 0 ? rank : rank / colours; }
};

// When each rank ended, and which message each of its receives got: sender in the world and how many it had
// sent before.
struct Played {
    std::vector<Time> ends{};
    std::vector<std::vector<std::pair<int, int>>> got{};  // by rank and request
    bool operator==(const Played&) const = default;
};

// `ties`: which of the ranks' doings at one instant come first; every number is another order.
Played reference(const machine::Machine& machine, const machine::Topology& topology,
                 const std::vector<machine::Placement>& placements, const Program& program,
                 std::uint64_t ties = 0);

}  // namespace leadline::testing_sim
