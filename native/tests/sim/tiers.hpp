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
inline std::vector<std::string> tiers() { return machine::network_tiers(); }

// Packets of at most 240 B with 16 B beside them, in steps of 32 B, and engines slower and faster than a
// link.
inline json packet_machine() {
    json described = round_machine();
    described["links"]["rate"] = 425e6;
    described["packets"] = {{"payload", 240}, {"overhead", 16}, {"granule", 32}};
    described["node"].update({{"injection", 1.7e9}, {"reception", 380e6}});
    return described;
}

inline json two_ranks(json described) {
    described["node"].update({{"cores", 2}, {"ranks", 2}, {"local", 2.1e9}, {"local_latency", 7e-7}});
    return described;
}

inline json topologies() {
    return {{{"kind", "torus"}, {"shape", {4, 3, 2}}},
            {{"kind", "mesh"}, {"shape", {3, 4}}},
            {{"kind", "fat-tree"}, {"arity", {4, 3}}, {"up", {2}}},
            {{"kind", "dragonfly"}, {"groups", 5}, {"routers", 2}, {"nodes", 2}, {"links", 2}},
            {{"kind", "single"}}};
}

// All seats of a topology, cores first.
inline json every_seat(const json& described, const json& topology, const std::string& tier) {
    const auto made = machine::make_topology(topology);
    return {{"machine", described},
            {"topology", topology},
            {"ranks", made->nodes() * described.at("node").at("ranks").get<int>()},
            {"network", tier},
            {"mapping", "T" + std::string("XYZABC").substr(0, made->axes().size())}};
}

// When each rank's program ended, s.
using Ends = std::vector<double>;
using Body = std::function<Task<>(Comm&, Control&)>;
inline Ends ends(const json& simulate, const Body& body) {
    Ends all(simulate.at("ranks").get<std::size_t>());
    play(simulate, [&](Comm world, Control control) -> Task<> {
        co_await body(world, control);
        all[static_cast<std::size_t>(world.rank())] = control.now();
    });
    return all;
}

// There and back between rank 0 and another.
inline Body round_trip(int peer, std::size_t bytes) {
    return [=](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(bytes);
        if (world.rank() == 0) {
            co_await world.send(data, peer);
            co_await world.recv(data, peer);
        } else if (world.rank() == peer) {
            co_await world.recv(data, 0);
            co_await world.send(data, 0);
        }
    };
}

inline json wide_open(double engines) {
    json described = round_machine();
    described["links"].erase("rate");
    described["buffer"] = 255 * 256;  // where a buffer is full its packets wait, however quick the links are
    described["packets"] = {{"payload", 240}, {"overhead", 16}, {"granule", 32}};
    if (engines > 0) described["node"].update({{"injection", engines}, {"reception", engines}});
    return described;
}

}  // namespace leadline::testing_sim
