// What several topologies need: their tables read, whole numbers divided fast, links counted.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "machine/topology.hpp"

namespace leadline::machine {

[[noreturn]] void refuse_topology(const std::string& problem);

// A key's whole number, 1 or more; refused with a sentence if it is missing or anything else.
int read_count(const nlohmann::json& from, const char* key);
// A list of such numbers, at least one and at most `most`.
std::vector<int> read_counts(const nlohmann::json& from, const char* key, std::size_t most);
// A capacity as a multiple of the link rate, more than 0; 1 where the key is missing.
double read_width(const nlohmann::json& from, const char* key);
// A list of exactly so many of them.
std::vector<double> read_widths(const nlohmann::json& from, const char* key, std::size_t count);

// The product, or a refusal where it is beyond a 32-bit number; `what` says of what.
int product(const std::vector<int>& factors, const char* what);
// The sum of links, or a refusal.
Link count_links(const std::vector<std::int64_t>& parts);

// n / d by a multiplication: a route is asked for millions of times a second, and a division of the processor
// costs as much as a hop. With m = floor(2^63 / d) + 1, n * m / 2^63 exceeds n / d by at most n / 2^63, which
// is less than 1 / d: exact for n and d below 2^31.
class Divider {
public:
    explicit Divider(int by = 1)
        : magic_((std::uint64_t{1} << 63U) / static_cast<std::uint64_t>(by) + 1), by_(by) {}

    [[nodiscard]] int by() const { return by_; }
    [[nodiscard]] int quotient(int n) const {
        return static_cast<int>((static_cast<Wide>(magic_) * static_cast<std::uint64_t>(n)) >> 63U);
    }
    [[nodiscard]] int rest(int n) const { return n - quotient(n) * by_; }

private:
    __extension__ using Wide = unsigned __int128;
    std::uint64_t magic_;
    int by_;
};

}  // namespace leadline::machine
