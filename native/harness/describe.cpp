// leadline-describe: tells what benchmarks there are, without their bodies, and what this host is.
#include <iostream>
#include <nlohmann/json.hpp>

#include "comm/places.hpp"
#include "harness/declaration.hpp"

namespace {

using namespace leadline;

constexpr const char* usage =
    "usage: leadline-describe [--ranks N] [--per-node P] [--hops H]\n"
    "                                       print what benchmarks there are, with default values at that "
    "scale\n"
    "       leadline-describe --topology    print cores, packages and caches\n";

Scale parse_scale(const std::vector<std::string>& arguments) {
    Scale scale;
    bool together = true;  // all ranks on one node, unless it is said otherwise
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        const int value = std::stoi(arguments[i + 1]);
        if (arguments[i] == "--ranks") scale.ranks = value;
        if (arguments[i] == "--hops") scale.hops = value;
        if (arguments[i] == "--per-node") {
            scale.per_node = value;
            together = false;
        }
    }
    if (together) scale.per_node = scale.ranks;
    return scale;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"--topology"}) {
        std::cout << topology().dump(1) << '\n';
    } else if (arguments.size() % 2 == 0) {
        std::cout << describe(parse_scale(arguments)).dump(1) << '\n';
    } else {
        std::cerr << usage;
        return 2;
    }
    return 0;
}
