#include "collectives/algorithm.hpp"

#include <algorithm>
#include <tuple>

namespace leadline::collectives {
namespace {

std::vector<Algorithm>& entries() {
    static std::vector<Algorithm> all;
    return all;
}
std::vector<Library>& known() {
    static std::vector<Library> all;
    return all;
}

}  // namespace

Entered::Entered(Algorithm algorithm) {
    auto& all = entries();
    const auto key = [](const Algorithm& each) { return std::tie(each.operation, each.name); };
    all.insert(std::ranges::lower_bound(all, key(algorithm), {}, key), std::move(algorithm));
}

Entered::Entered(Library library) {
    known().insert(std::ranges::lower_bound(known(), library.name, {}, &Library::name), std::move(library));
}

const std::vector<Library>& libraries() { return known(); }

const Library* find_library(std::string_view name) {
    const auto found = std::ranges::find(known(), name, &Library::name);
    return found == known().end() ? nullptr : &*found;
}

const std::vector<Algorithm>& algorithms() { return entries(); }

const Algorithm* find(std::string_view operation, std::string_view name) {
    for (const auto& each : entries())
        if (each.operation == operation && each.name == name) return &each;
    return nullptr;
}

}  // namespace leadline::collectives
