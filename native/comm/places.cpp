#include "comm/places.hpp"

#include <hwloc.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "comm/vocabulary.hpp"

namespace leadline {
namespace {

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;
using Set = std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)>;

Topology load_topology() {
    hwloc_topology_t raw = nullptr;
    hwloc_topology_init(&raw);
    // PCI and the like are slow to read and say nothing about where a rank runs.
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_load(raw);
    return {raw, hwloc_topology_destroy};
}

// The object of a core's core group: its last-level cache, else its package, else the machine.
hwloc_obj_t group_of(hwloc_obj_t core) {
    hwloc_obj_t best = nullptr;
    for (hwloc_obj_t up = core; up; up = up->parent)
        if (hwloc_obj_type_is_dcache(up->type)) best = up;
    for (hwloc_obj_t up = core; up && !best; up = up->parent)
        if (up->type == HWLOC_OBJ_PACKAGE) best = up;
    return best;
}

int package_of(hwloc_obj_t object) {
    for (hwloc_obj_t up = object; up; up = up->parent)
        if (up->type == HWLOC_OBJ_PACKAGE) return static_cast<int>(up->logical_index);
    return 0;
}

int group_index(hwloc_obj_t core) {
    const hwloc_obj_t group = group_of(core);
    return group ? static_cast<int>(group->logical_index) : 0;
}

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

std::string boot() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

std::string network() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/ns/net", unknown).string();
}

}  // namespace

void to_json(nlohmann::json& json, const Place& place) {
    json = {{"host", place.host},       {"boot", place.boot},   {"network", place.network},
            {"package", place.package}, {"group", place.group}, {"core", place.core},
            {"cores", place.cores}};
}

void from_json(const nlohmann::json& json, Place& place) {
    json.at("host").get_to(place.host);
    json.at("boot").get_to(place.boot);
    json.at("network").get_to(place.network);
    json.at("package").get_to(place.package);
    json.at("group").get_to(place.group);
    json.at("core").get_to(place.core);
    json.at("cores").get_to(place.cores);
}

int distance(const Place& a, const Place& b) {
    if (a.host != b.host) return other_node;
    if (a.package < 0 || b.package < 0) return unknown;
    if (a.package != b.package) return same_node;
    if (a.group < 0 || b.group < 0) return unknown;
    return a.group == b.group ? same_group : same_package;
}

Place my_place() {
    const Topology topology = load_topology();
    const Set mask(hwloc_bitmap_alloc(), hwloc_bitmap_free);
    hwloc_get_cpubind(topology.get(), mask.get(), HWLOC_CPUBIND_PROCESS);
    Place place{.host = host_name(), .boot = boot(), .network = network()};
    const int cores = hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE);
    for (int i = 0; i < cores; ++i) {
        const hwloc_obj_t core =
            hwloc_get_obj_by_type(topology.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        if (!hwloc_bitmap_intersects(core->cpuset, mask.get())) continue;
        const bool first = place.cores++ == 0;
        const int package = package_of(core);
        const int group = group_index(core);
        place.core = first ? i : -1;
        place.package = first || place.package == package ? package : -1;
        place.group = first || place.group == group ? group : -1;
    }
    return place;
}

nlohmann::json topology() {
    const Topology topology = load_topology();
    auto cores = nlohmann::json::array();
    for (hwloc_obj_t core = nullptr;
         (core = hwloc_get_next_obj_by_type(topology.get(), HWLOC_OBJ_CORE, core)) != nullptr;)
        cores.push_back({{"os_index", core->os_index},
                         {"package", package_of(core)},
                         {"group", group_index(core)},
                         {"threads", hwloc_bitmap_weight(core->cpuset)}});
    auto caches = nlohmann::json::array();
    for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE})
        if (const hwloc_obj_t cache = hwloc_get_obj_by_type(topology.get(), type, 0))
            caches.push_back({{"level", cache->attr->cache.depth},
                              {"bytes", cache->attr->cache.size},
                              {"line", cache->attr->cache.linesize},
                              {"count", hwloc_get_nbobjs_by_type(topology.get(), type)}});
    return {{"packages", std::max(1, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE))},
            {"numa_nodes", hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE)},
            {"cores", cores},
            {"caches", caches},
            {"hwloc", HWLOC_API_VERSION}};
}

double network_sent() {
    std::ifstream file("/proc/self/net/dev");  // two lines of heading; then name, 8 of receiving, bytes sent
    double sent = 0;
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos || line.find_first_not_of(' ') == line.find("lo:")) continue;
        std::istringstream numbers(line.substr(colon + 1));
        double number = 0;
        for (int i = 0; i < 9; ++i) numbers >> number;
        if (numbers) sent += number;
    }
    return sent;
}

std::size_t last_level_cache() {
    const auto all = topology();
    std::size_t largest = 0;
    for (const auto& cache : all.at("caches"))
        largest = std::max(largest, cache.at("bytes").get<std::size_t>());
    return largest;
}

}  // namespace leadline
