#include "applications/ft/problem.hpp"

#include <cstdio>
#include <fstream>

namespace leadline::ft {

std::int64_t memory_left() {
    std::ifstream told("/proc/meminfo");
    for (std::string line; std::getline(told, line);)
        if (line.starts_with("MemAvailable:"))
            return std::stoll(line.substr(13)) * 1024;  // proc(5): in kB, which are KiB
    return 0;
}

std::string told(std::int64_t bytes) {
    constexpr double gibibyte = 1U << 30U;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.3g GiB", static_cast<double>(bytes) / gibibyte);
    return text.data();
}

std::string told(Complex checksum) {
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(), "(%.13g, %.13g)", checksum.real(), checksum.imag());
    return text.data();
}

}  // namespace leadline::ft
