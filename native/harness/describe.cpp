// leadline-describe: tells what benchmarks there are, without their bodies, and what this host is.
#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "comm/places.hpp"
#include "harness/declaration.hpp"

namespace {

using namespace leadline;

constexpr const char* usage =
    "usage: leadline-describe [--ranks N] [--per-node P] [--hops H]\n"
    "                                       print what benchmarks there are, with default values at that "
    "scale\n"
    "       leadline-describe --topology    print cores, packages and caches\n";

// Nothing where they are no scale.
std::optional<Scale> parse_scale(const std::vector<std::string>& arguments) {
    if (arguments.size() % 2 != 0) return std::nullopt;
    Scale scale;
    bool together = true;  // all ranks on one node, unless it is said otherwise
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        const std::string& text = arguments[i + 1];
        int value = 0;
        const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
        if (arguments[i] == "--ranks") scale.ranks = value;
        else if (arguments[i] == "--hops") scale.hops = value;
        else if (arguments[i] == "--per-node") scale.per_node = value;
        else return std::nullopt;
        together = together && arguments[i] != "--per-node";
    }
    if (together) scale.per_node = scale.ranks;
    return scale;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments == std::vector<std::string>{"--topology"}) {
        std::cout << topology().dump(1) << '\n';
    } else if (const auto scale = parse_scale(arguments)) {
        std::cout << describe(*scale).dump(1) << '\n';
    } else {
        std::cerr << usage;
        return 2;
    }
    return 0;
}
