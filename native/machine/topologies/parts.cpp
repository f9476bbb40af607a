#include "machine/topologies/parts.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace leadline::machine {
namespace {

using nlohmann::json;

bool is_count(const json& value) {
    return value.is_number_integer() && value >= 1 && value <= std::numeric_limits<std::int32_t>::max();
}

bool is_width(const json& value) { return value.is_number() && value.get<double>() > 0; }

const json& at(const json& from, const char* key, const std::string& what) {
    if (!from.contains(key)) refuse_topology(std::string(key) + " is " + what + ", but is missing");
    return from.at(key);
}

}  // namespace

void refuse_topology(const std::string& problem) { throw std::invalid_argument("topology: " + problem); }

int read_count(const json& from, const char* key) {
    const std::string what = "a whole number of 1 or more";
    const json& value = at(from, key, what);
    if (!is_count(value)) refuse_topology(std::string(key) + " is " + what + ", but got " + value.dump());
    return value.get<int>();
}

std::vector<int> read_counts(const json& from, const char* key, std::size_t most) {
    const std::string what = "a list of 1 to " + std::to_string(most) + " whole numbers of 1 or more";
    const json& value = at(from, key, what);
    if (!value.is_array() || value.empty() || value.size() > most ||
        !std::all_of(value.begin(), value.end(), is_count))
        refuse_topology(std::string(key) + " is " + what + ", but got " + value.dump());
    return value.get<std::vector<int>>();
}

double read_width(const json& from, const char* key) {
    if (!from.contains(key)) return 1;
    const json& value = from.at(key);
    if (!is_width(value))
        refuse_topology(std::string(key) + " is a number of more than 0, but got " + value.dump());
    return value.get<double>();
}

std::vector<double> read_widths(const json& from, const char* key, std::size_t count) {
    std::vector<double> widths(count, 1);
    if (!from.contains(key)) return widths;
    const json& value = from.at(key);
    if (!value.is_array() || value.size() != count || !std::all_of(value.begin(), value.end(), is_width))
        refuse_topology(std::string(key) + " is a list of " + std::to_string(count) +
                        " numbers of more than 0, but got " + value.dump());
    value.get_to(widths);
    return widths;
}

int product(const std::vector<int>& factors, const char* what) {
    std::int64_t all = 1;
    for (const int factor : factors) {
        all *= factor;
        if (all > std::numeric_limits<std::int32_t>::max())
            refuse_topology(std::string("a 32-bit number is to count the ") + what + ", but there are more");
    }
    return static_cast<int>(all);
}

Link count_links(const std::vector<std::int64_t>& parts) {
    std::int64_t all = 0;
    for (const auto part : parts) {
        all += part;
        if (all > std::numeric_limits<Link>::max())
            refuse_topology("a 32-bit number is to count the links, but there are more");
    }
    return static_cast<Link>(all);
}

}  // namespace leadline::machine
