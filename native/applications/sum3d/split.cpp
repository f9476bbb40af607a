#include "applications/sum3d/split.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <stdexcept>

namespace leadline::sum3d {
namespace {

constexpr std::int64_t number = sizeof(double);

// The first element and the number of elements of part `index` of `length` in `parts`.
std::array<std::int64_t, 2> cut(std::int64_t length, std::int64_t parts, std::int64_t index) {
    const std::int64_t even = length / parts;
    const std::int64_t longer = length % parts;
    return {even * index + std::min(index, longer), even + (index < longer ? 1 : 0)};
}

}  // namespace

Lengths lengths_of(const std::string& text) {
    Lengths lengths{};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto [next, wrong] = std::from_chars(at, end, lengths[axis]);
        const bool last = axis == 2;
        if (wrong != std::errc() || lengths[axis] < 1 || (last ? next != end : next == end || *next != 'x'))
            throw std::invalid_argument("three lengths are written like 240x100x100, but got '" + text + "'");
        at = last ? next : next + 1;
    }
    return lengths;
}

std::int64_t elements(const Lengths& lengths) { return lengths[0] * lengths[1] * lengths[2]; }

Box box_of(int rank, const Lengths& array, const Lengths& grid) {
    Box box;
    std::int64_t rest = rank;
    for (std::size_t axis = 3; axis-- > 0; rest /= grid[axis]) {
        const auto [from, count] = cut(array[axis], grid[axis], rest % grid[axis]);
        box.from[axis] = from;
        box.count[axis] = count;
    }
    return box;
}

std::vector<std::int64_t> loads(const Lengths& array, const Lengths& grid, bool by_grid) {
    const std::int64_t ranks = elements(grid);
    std::vector<std::int64_t> all;
    for (std::int64_t rank = 0; rank < ranks; ++rank)
        all.push_back(by_grid ? elements(box_of(static_cast<int>(rank), array, grid).count)
                              : cut(elements(array), ranks, rank)[1]);
    return all;
}

std::vector<Group> groups(const Lengths& array, const Lengths& grid) {
    std::map<Lengths, Group> found;
    const auto ranks = static_cast<int>(elements(grid));
    for (int rank = 0; rank < ranks; ++rank) {
        const auto [from, count] = box_of(rank, array, grid);
        Group& group = found[count];
        group.shape = {.run = number * count[2],
                       .rows = count[1],
                       .row_stride = number * array[2],
                       .planes = count[0],
                       .plane_stride = number * array[1] * array[2]};
        const std::int64_t first = (from[0] * array[1] + from[1]) * array[2] + from[2];
        group.parts.push_back({rank, number * elements(count), number * first});
    }
    std::vector<Group> all;
    all.reserve(found.size());
    for (auto& [count, group] : found) all.push_back(std::move(group));
    return all;
}

}  // namespace leadline::sum3d
