#include "harness/declaration.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/grids.hpp"

namespace leadline {
namespace {

// Built on first use, since the benchmarks' files are initialised in no given order.
std::vector<Declaration>& entries() {
    static std::vector<Declaration> all;
    return all;
}

template <class T>
std::vector<Value> as_values(const std::vector<T>& from) {
    return {from.begin(), from.end()};
}

std::string_view kind_name(Kind kind) {
    switch (kind) {
        case Kind::bytes: return "bytes";
        case Kind::count: return "count";
        case Kind::choice: return "choice";
    }
    return "";
}

nlohmann::json as_json(const Value& value) {
    return std::visit([](const auto& held) { return nlohmann::json(held); }, value);
}

nlohmann::json describe(const Sweep& sweep, const Scale& scale) {
    auto values = nlohmann::json::array();
    for (const auto& value : sweep.values(scale)) values.push_back(as_json(value));
    return {{"name", sweep.name},
            {"unit", sweep.kind == Kind::bytes ? "B" : "1"},
            {"kind", kind_name(sweep.kind)},
            {"default", values},
            {"choices", sweep.allowed ? sweep.allowed() : std::vector<std::string>{}},
            {"pattern", sweep.pattern},
            {"help", sweep.help}};
}

nlohmann::json describe(const Metric& metric) {
    return {{"name", metric.name},
            {"unit", unit_name(metric.unit)},
            {"better", metric.better == Better::lower ? "lower" : "higher"},
            {"difference", metric.difference},
            {"description", metric.description}};
}

}  // namespace

Alike all_alike() {
    return {[](const Point&, int) { return 1; }};
}

Alike alike_in_grid(int dimensions) {
    return {[=](const Point&, int ranks) { return ranks / even_grid(ranks, dimensions).front(); }};
}

Alike alike_in_grid(const std::string& dimensions) {
    return {[=](const Point& point, int ranks) {
        const auto asked = std::get<std::int64_t>(point.at(dimensions));
        return asked < 1 ? 0 : ranks / even_grid(ranks, static_cast<int>(asked)).front();
    }};
}

std::vector<std::int64_t> powers(std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> all;
    for (std::int64_t value = from; value <= to; value = value == 0 ? 1 : 2 * value) all.push_back(value);
    return all;
}

std::vector<std::int64_t> counting(std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> all;
    for (std::int64_t value = from; value <= to; ++value) all.push_back(value);
    return all;
}

Sweep sizes(std::string name, const std::vector<std::int64_t>& values, std::string help) {
    return {std::move(name), Kind::bytes, [values = as_values(values)](const Scale&) { return values; },
            std::move(help)};
}

Sweep counts(std::string name, const std::vector<std::int64_t>& values, std::string help) {
    return {std::move(name), Kind::count, [values = as_values(values)](const Scale&) { return values; },
            std::move(help)};
}

Sweep counts(std::string name, std::string help,
             std::function<std::vector<std::int64_t>(const Scale&)> values) {
    return {std::move(name), Kind::count,
            [values = std::move(values)](const Scale& scale) { return as_values(values(scale)); },
            std::move(help)};
}

Sweep choice(std::string name, const std::vector<std::string>& words, std::string help) {
    return choice(std::move(name), words, std::move(help), words);
}

Sweep choice(std::string name, const std::vector<std::string>& words, std::string help,
             const std::vector<std::string>& usual) {
    return choice(
        std::move(name), [words] { return words; }, std::move(help), usual);
}

Sweep choice(std::string name, std::function<std::vector<std::string>()> words, std::string help,
             const std::vector<std::string>& usual) {
    return {std::move(name), Kind::choice, [usual = as_values(usual)](const Scale&) { return usual; },
            std::move(help), std::move(words)};
}

Sweep words(std::string name, std::string help, std::function<std::vector<std::string>(const Scale&)> values,
            std::string pattern) {
    return {.name = std::move(name),
            .kind = Kind::choice,
            .values = [values = std::move(values)](const Scale& scale) { return as_values(values(scale)); },
            .help = std::move(help),
            .pattern = std::move(pattern)};
}

void Registered::enter(Declaration&& made) {
    auto& all = entries();
    const auto place = std::ranges::lower_bound(all, made.name, {}, &Declaration::name);
    if (place != all.end() && place->name == made.name)
        throw std::logic_error("two benchmarks named " + made.name);
    if (made.metrics.empty() || made.metrics.size() > most_metrics)
        throw std::logic_error("benchmark " + made.name + " measures nothing, or too much");
    all.insert(place, std::move(made));
}

const std::vector<Declaration>& registry() { return entries(); }

const Declaration* find(std::string_view benchmark) {
    const auto found = std::ranges::find(entries(), benchmark, &Declaration::name);
    return found == entries().end() ? nullptr : &*found;
}

std::string_view unit_name(Unit unit) {
    switch (unit) {
        case Unit::second: return "s";
        case Unit::bytes_per_second: return "B/s";
        case Unit::per_second: return "1/s";
        case Unit::one: return "1";
    }
    return "";
}

nlohmann::json describe(const Scale& scale) {
    auto all = nlohmann::json::array();
    for (const auto& each : registry()) {
        auto sweeps = nlohmann::json::array();
        for (const auto& sweep : each.sweeps) sweeps.push_back(describe(sweep, scale));
        auto metrics = nlohmann::json::array();
        for (const auto& metric : each.metrics) metrics.push_back(describe(metric));
        all.push_back({{"name", each.name},
                       {"question", each.question},
                       {"min_ranks", each.ranks.least},
                       {"max_ranks", each.ranks.most ? nlohmann::json(each.ranks.most) : nlohmann::json()},
                       {"sweeps", sweeps},
                       {"metrics", metrics}});
    }
    return all;
}

}  // namespace leadline
