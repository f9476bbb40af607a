// Each axis a line: {"kind": "mesh", "shape": [X, Y, Z]}, one to six axes. Routes are in grid.cpp.
#include "machine/topologies/grid.hpp"

namespace leadline::machine {
namespace {

const TopologyKind mesh("mesh", [](const nlohmann::json& from) { return make_grid(from, false); });

}  // namespace
}  // namespace leadline::machine
