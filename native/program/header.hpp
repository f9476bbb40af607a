// Numbers of the header of a program's file, which anybody may have written.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

namespace leadline::program {

// A whole number of the header that its type holds: a cast would make another one of what does not fit.
template <class Integer>
Integer whole(const nlohmann::json& value) {
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<Integer>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<Integer>(value.get<std::int64_t>());
    if (!fits) throw std::runtime_error("a number of the header is not possible");
    return value.get<Integer>();
}

// At most `count` numbers below `below`.
inline std::vector<std::int32_t> numbers_of(const nlohmann::json& runs, std::int64_t below,
                                            std::int64_t most) {
    std::vector<std::int32_t> made;
    for (const nlohmann::json& run : runs) {
        const std::int64_t first = whole<std::int32_t>(run.at(0)), step = whole<std::int32_t>(run.at(2));
        const auto count = whole<std::int64_t>(run.at(1));
        if (count < 0 || count > most - std::ssize(made)) throw std::runtime_error("a list is too long");
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t rank = first + step * i;
            if (rank < 0 || rank >= below) throw std::runtime_error("a list names what is not there");
            made.push_back(static_cast<std::int32_t>(rank));
        }
    }
    return made;
}

// The number of a request or a window at a rank, which has room for so many.
inline std::int32_t place_of(std::int64_t number) {
    constexpr std::int64_t most = 1 << 22;
    if (number < 0 || number > most)
        throw std::runtime_error("a request or a window has an impossible number");
    return static_cast<std::int32_t>(number);
}

// Of each rank, as far as it is known; of programs that were not recorded nothing is.
inline std::vector<double> memory_of(const nlohmann::json& header, int ranks) {
    const nlohmann::json none = nlohmann::json::array();
    const nlohmann::json& recorded = header.contains("recorded") ? header.at("recorded") : none;
    if (!recorded.is_object() || !recorded.contains("memory")) return {};
    std::vector<double> made;
    for (const nlohmann::json& each : recorded.at("memory"))
        made.push_back(each.is_null() ? 0 : static_cast<double>(whole<std::uint64_t>(each)));
    if (std::ssize(made) != ranks) throw std::runtime_error("not every rank has a memory");
    return made;
}

// Whether it is of what a program really did: recorded, or imported from another tool's record of it.
inline bool was_recorded(const nlohmann::json& header) {
    const auto recorded = header.find("recorded");
    if (recorded == header.end() || !recorded->is_object()) return false;
    const auto imported = recorded->find("imported");
    return recorded->contains("mpi") || (imported != recorded->end() && *imported == "otf2");
}

// A column's width in the tables, B.
inline std::size_t width_of(const std::string& column) { return column == "before_mean" ? 8 : 4; }

}  // namespace leadline::program
