// Torus: as linear, but a rank's partner is as many nodes away along each axis, and as many cores on, as that
// of the same core of every other node; on axes of even length nodes look the two ways by turns. In each
// stage all links of an axis then carry nearly as much, in whichever order the ranks are numbered. Without a
// grid of nodes with as many ranks on each it is linear.
#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

const Entered alltoall(
    {.operation = "alltoall", .name = "torus", .stages = one_shift_after_another, .by_axes = true});

}  // namespace
}  // namespace leadline::collectives
