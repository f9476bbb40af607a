// A torus or a mesh of up to six axes: the same but for the cable from an axis' end to its beginning.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "machine/topology.hpp"

namespace leadline::machine {

std::unique_ptr<Topology> make_grid(const nlohmann::json& description, bool wrap);

}  // namespace leadline::machine
