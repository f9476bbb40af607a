// Which ranks need to be played where all do the same, each seen from itself.
//
// Let there be a step s such that rank r + s does to rank q + s whatever rank r does to rank q (numbers go
// round), and let its node be r's moved by one vector along the axes, for all r, on a topology whose routes
// move with their ends. Then whatever happens to r, to a link or to an engine happens at the same moment to
// r + s and to what the link or the engine becomes. So ranks 0 to s - 1 are played:
//
//   - A message to a rank beyond them is the one that comes from as far away to the rank that is played.
//   - Links and engines that become each other are one: it has every use that a route makes of any of them,
//     in turn.
//
// There may be several such moves, along one axis each, whichever order the ranks are numbered in: what a
// rank does is said by places then, not by numbers (an alltoall by "torus"). Where ties go by the parity of a
// node, those of one parity do as those of the other do, mirrored in a point. Ranks are numbered anew for it,
// those that are played first.
//
// A rank becomes one with the same number on its node. Ranks of one node do not become each other: what they
// hand over at one moment is served one after the other, so they are not alike.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "machine/mapping.hpp"
#include "machine/topology.hpp"

namespace leadline::machine {

// Thrown by a word that ranks may not all do alike: the program is played by all of them then.
struct Asymmetric {
    bool along_axes = false;  // yet they do alike along the axes
};

// How many ranks each node has, numbered from 0 on; nothing where they differ.
std::optional<int> ranks_on_each(const Topology& topology, const std::vector<Placement>& placements);

class Symmetry {
public:
    // The one with the smallest step that is a multiple of `period`; nothing where there is none. The
    // topology must outlive it.
    static std::optional<Symmetry> find(const Topology& topology, const std::vector<Placement>& placements,
                                        int period);

    // That of the moves along single axes of a grid on which all nodes have as many ranks; nothing where no
    // node may be moved.
    static std::optional<Symmetry> by_axes(const Topology& topology,
                                           const std::vector<Placement>& placements);

    // Where ranks sit that are numbered anew; else nothing.
    [[nodiscard]] const std::vector<Placement>& renumbered() const { return renumbered_; }
    [[nodiscard]] bool along_axes() const { return !renumbered_.empty(); }
    [[nodiscard]] int players() const { return step_; }
    [[nodiscard]] int ranks() const { return ranks_; }
    // The rank that is played for this one.
    [[nodiscard]] int player(int rank) const { return rank < step_ ? rank : rank % step_; }
    // A rank as who is so many ranks before its observer sees it.
    [[nodiscard]] int seen(int rank, int before) const {
        if (along_axes()) return seen_along_axes(rank, before);
        return rank < before ? rank - before + ranks_ : rank - before;
    }
    // How many ranks lie between those of a node and those of the one whose engines it uses.
    [[nodiscard]] int behind(int node) const { return behind_[static_cast<std::size_t>(node)]; }
    // What routes are asked of: links and engines that become each other have one number.
    [[nodiscard]] const Topology& quotient() const { return *quotient_; }

private:
    [[nodiscard]] int seen_along_axes(int rank, int before) const;
    [[nodiscard]] bool mirrors(int move) const;

    int ranks_ = 0;
    int step_ = 0;
    std::vector<int> moves_{};  // by which a node comes back to where it was, along each axis
    bool mirrored_ = false;     // by which nodes an odd number of moves away, along axes of even length, are
    std::vector<Placement> renumbered_{};
    std::vector<int> behind_{};  // of nodes
    std::shared_ptr<const Topology> quotient_{};
};

}  // namespace leadline::machine
