// Where a rank runs: host, package, core group and core, as hwloc sees it from inside the rank.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace leadline {

struct Place {
    std::string host;
    std::string
        boot;  // of the kernel, new at every boot: the same on hosts that are namespaces of one machine
    std::string
        network;       // namespace of the network; with another, messages of one machine cross an interface
    int package = -1;  // -1 where the rank is not bound to one
    int group = -1;    // cores that share their last-level cache; -1 where not bound within one
    int core = -1;     // logical core index; -1 where not bound to one core
    int cores = 0;     // cores that the rank may run on
};

void to_json(nlohmann::json& json, const Place& place);
void from_json(const nlohmann::json& json, Place& place);

// Distance in the vocabulary's sense (see Distance) as far as one can tell without knowing the network.
int distance(const Place& a, const Place& b);

// The calling process's own place, from its binding mask.
Place my_place();

// What hwloc knows of this machine that decides where ranks can be put: packages, cores (operating-system
// index, package and group of each) and caches in bytes.
nlohmann::json topology();

// Bytes that the calling process's network interfaces have sent, without the loopback; 0 where unknown.
double network_sent();

// Bytes of the largest cache that the calling process's core sees; 0 where unknown.
std::size_t last_level_cache();

}  // namespace leadline
