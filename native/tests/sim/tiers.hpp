// Machines of packets and of two ranks a node on every topology, and programs of which each rank's end is
// told.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "machine/network.hpp"
#include "machine/topology.hpp"
#include "testing.hpp"

namespace leadline::testing_sim {

// A function: before main not every tier has entered itself.
std::vector<std::string> tiers();

// Packets of at most 240 B with 16 B beside them, in steps of 32 B, and engines slower and faster than a
// link.
json packet_machine();

json two_ranks(json described);

json topologies();

// All placements of a topology, cores first.
json every_placement(const json& described, const json& topology, const std::string& tier);

// When each rank's program ended, s.
using Ends = std::vector<double>;
using Body = std::function<Task<>(Comm&, Control&)>;
Ends ends(const json& simulate, const Body& body);

// There and back between rank 0 and another.
Body round_trip(int peer, std::size_t bytes);

json wide_open(double engines);

}  // namespace leadline::testing_sim
