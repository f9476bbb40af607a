// Each axis a ring: {"kind": "torus", "shape": [X, Y, Z]}, one to six axes. Routes are in grid.cpp.
#include "machine/topologies/grid.hpp"

namespace leadline::machine {
namespace {

const TopologyKind torus("torus", [](const nlohmann::json& from) { return make_grid(from, true); });

}  // namespace
}  // namespace leadline::machine
