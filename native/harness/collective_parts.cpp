// What a collective's benchmark declares: sweeps, metrics, names.
#include <cstdint>

#include "collectives/algorithm.hpp"
#include "harness/collective.hpp"

namespace leadline {
namespace {

std::vector<std::string> algorithms_of(Collective what) {
    std::vector<std::string> names{library};
    for (const auto& each : collectives::algorithms())
        if (each.operation == name_of(what)) names.push_back(each.name);
    return names;
}

std::vector<std::string> cadences() {
    std::vector<std::string> names{"back-to-back", "isolated"};
    for (const TimedCadence& each : timed_cadences) names.emplace_back(each.name);
    return names;
}

}  // namespace

Sweep roots() {
    return counts("root", "rank of the communicator that it goes from or to", [](const Scale& scale) {
        return std::vector<std::int64_t>{0, scale.ranks - 1};
    });
}

Sweep variations() {
    return choice(
        "variation", {"none", "equal", "varying"},
        "blocks as the plain operation has them; told one by one, and equal; or 0.5 to 1.5 of the mean",
        {"none"});
}

Sweep blocks(std::string help) { return sizes("bytes", powers(8, 1_MiB), std::move(help)); }

Sweep dimensions() { return counts("dimensions", {2, 3}, "dimensions of the grid of ranks"); }

std::vector<Sweep> ways(Collective what) {
    return {
        choice("form", {"blocking", "nonblocking", "persistent"}, "form of the call", {"blocking"}),
        choice("cadence", cadences(),
               "again and again; each alone from one moment on all ranks; each between computations; or as "
               "the suites OSU and IMB define it",
               {"back-to-back"}),
        choice("algorithm", [what] { return algorithms_of(what); },
               "the library's own choice, or one of Leadline's algorithms over point-to-point messages",
               {library})};
}

std::vector<Metric> times(const std::string& operation) {
    return {metric("time", Unit::second, lower, largest, "time of one " + operation + " on the slowest rank"),
            metric("mean", Unit::second, lower, Over::mean,
                   "time of one " + operation + ", mean over the ranks that take part"),
            metric("overlap", Unit::one, higher, Over::mean,
                   "share of its time hidden behind a computation of the same length (nonblocking forms)")};
}

}  // namespace leadline
