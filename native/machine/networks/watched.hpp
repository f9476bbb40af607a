// Looks on while messages pass a network, in tests: whatever the tier, no link and no engine moves more bytes
// than its rate allows, and every message that was handed over arrives once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/network.hpp"

namespace leadline::machine {

// Networks made from now on are watched.
inline bool watching = false;
// Networks made so far.
inline std::size_t networks_made = 0;
// What was seen that cannot be, since it was last asked; at the end of each network.
std::vector<std::string> take_violations();

using MakeNetwork = std::function<std::unique_ptr<Network>(Listener&)>;
std::unique_ptr<Network> watched(std::string_view tier, const Machine& machine, const Topology& topology,
                                 Listener& listener, const MakeNetwork& make);

}  // namespace leadline::machine
