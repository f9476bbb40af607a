#include "harness/blocks.hpp"

namespace leadline {
namespace {

// The index-th of a sequence of well mixed numbers (splitmix64), which needs none of those before it.
std::uint64_t mixed(std::uint64_t index) {
    std::uint64_t value = (index + 1) * 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
}

}  // namespace

std::int64_t varied(std::int64_t mean, std::uint64_t index) {
    const double share =
        static_cast<double>(mixed(index) >> 11U) / static_cast<double>(std::uint64_t{1} << 53U);
    return static_cast<std::int64_t>(static_cast<double>(mean) * (0.5 + share));
}

std::vector<std::int64_t> block_sizes(std::size_t count, std::int64_t mean, std::int64_t unit, bool varying) {
    std::vector<std::int64_t> sizes(count, mean);
    for (std::size_t i = 0; varying && i < count; ++i) sizes[i] = varied(mean, i) / unit * unit;
    return sizes;
}

std::vector<Part> laid_out(const std::vector<std::int64_t>& sizes) {
    std::vector<Part> parts;
    parts.reserve(sizes.size());
    std::int64_t offset = 0;
    for (const std::int64_t size : sizes) {
        parts.push_back({static_cast<int>(parts.size()), size, offset});
        offset += size;
    }
    return parts;
}

}  // namespace leadline
