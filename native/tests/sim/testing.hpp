// A machine of few, round numbers, and jobs asked of it: what the simulator's tests share.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/job.hpp"
#include "machine/networks/watched.hpp"

namespace leadline::testing_sim {

using nlohmann::json;

// Every network of these tests is watched, in all tiers and in collectives too: a test in which a link or an
// engine moves more than it can, or a message is lost, fails.
class Watchman final : public testing::EmptyTestEventListener {
public:
    Watchman() { machine::watching = true; }
    void OnTestStart(const testing::TestInfo&) override { machine::take_violations(); }
    void OnTestEnd(const testing::TestInfo&) override {
        const auto seen = machine::take_violations();
        for (std::size_t i = 0; i < seen.size() && i < 3; ++i) ADD_FAILURE() << seen[i];
    }
};
inline const bool watched = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new Watchman);
    return true;
}();

// 1 us to send, 2 us to receive, 3 us between the ends and 0.1 us a link, 1 GB/s; a node runs one rank.
inline json round_machine() {
    return {{"name", "round"},
            {"links", {{"rate", 1e9}, {"hop", 1e-7}, {"base", 3e-6}}},
            {"node", {{"cores", 1}, {"ranks", 1}}},
            {"protocol", {{{"name", "eager"}, {"send_overhead", 1e-6}, {"receive_overhead", 2e-6}}}}};
}

inline json on(int ranks, json described = round_machine(), std::vector<int> shape = {}) {
    if (shape.empty()) shape = {ranks};
    return {{"machine", std::move(described)},
            {"topology", {{"kind", "torus"}, {"shape", shape}}},
            {"ranks", ranks},
            {"network", "loggp"},
            {"mapping", std::string("XYZ").substr(0, shape.size()) + "T"}};
}

// The answers' lines to the points, in order.
inline std::vector<json> ask(const json& points, const json& simulate) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("leadline-sim-" + std::to_string(getpid()) +
                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove(path);
    {
        int argc = 0;
        char** argv = nullptr;
        Session session(argc, argv);
        Answers answers(path);
        run_job(parse_job(json{{"points", points}, {"simulate", simulate}}.dump()), session, &answers);
    }
    std::vector<json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    std::filesystem::remove(path);
    return lines;
}

// A point of a benchmark; what it does not say is the first value of a sweep's defaults.
inline json question(const std::string& benchmark, json point) {
    for (const auto& sweep : find(benchmark)->sweeps)
        if (!point.contains(sweep.name))
            std::visit([&](const auto& value) { point[sweep.name] = value; }, sweep.values(Scale{}).front());
    return {{"id", 0}, {"benchmark", benchmark}, {"point", std::move(point)}};
}

// The one sample of a metric at one point.
inline double answer(const std::string& benchmark, const json& point, const json& simulate,
                     const std::string& metric) {
    for (const auto& line : ask(json::array({question(benchmark, point)}), simulate))
        if (line.at("event") == "record" && line.at("metric") == metric) return line.at("samples").at(0);
    throw std::runtime_error("no record of " + metric);
}

// A program of every rank, run on a described machine; throws what it throws.
template <class Program>
void play(const json& simulate, Program program) {
    int argc = 0;
    char** argv = nullptr;
    Session session(argc, argv);
    session.configure(simulate);
    do session.run(program);
    while (session.needs_rerun());
}

}  // namespace leadline::testing_sim
