// What the simulator's tests share, compiled once: most of their time to compile is JSON.
#include "testing.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "machine/networks/watched.hpp"
#include "tiers.hpp"

namespace leadline::testing_sim {
namespace {

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
const bool watched = [] {
    testing::UnitTest::GetInstance()->listeners().Append(new Watchman);
    return true;
}();

// Few of a sweep's default values: all words, of numbers the least and one that is not large.
std::vector<json> few(const json& sweep) {
    const json& all = sweep.at("default");
    if (sweep.at("kind") == "choice") return all;
    const std::int64_t most = sweep.at("kind") == "bytes" ? 4096 : 64;
    std::vector<json> chosen{all.front()};
    for (const auto& value : all)
        if (value > chosen.front() && value <= most && (value == all.back() || value >= most / 16)) {
            chosen.push_back(value);
            break;
        }
    return chosen;
}

}  // namespace

json round_machine() {
    return {{"name", "round"},
            {"links", {{"rate", 1e9}, {"hop", 1e-7}, {"base", 3e-6}}},
            {"node", {{"cores", 1}, {"ranks", 1}}},
            {"protocol", {{{"name", "eager"}, {"send_overhead", 1e-6}, {"receive_overhead", 2e-6}}}}};
}

json on(int ranks, json described, std::vector<int> shape) {
    if (shape.empty()) shape = {ranks};
    return {{"machine", std::move(described)},
            {"topology", {{"kind", "torus"}, {"shape", shape}}},
            {"ranks", ranks},
            {"network", "loggp"},
            {"mapping", std::string("XYZ").substr(0, shape.size()) + "T"}};
}

std::vector<json> ask(const json& points, const json& simulate) {
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

json points_of(const json& benchmark) {
    json first = json::object();
    for (const auto& sweep : benchmark.at("sweeps")) first[sweep.at("name")] = few(sweep).front();
    json all = json::array({question(benchmark.at("name"), first)});
    for (const auto& sweep : benchmark.at("sweeps"))
        for (const auto& value : few(sweep)) {
            json point = first;
            point[sweep.at("name")] = value;
            if (point != first) all.push_back(question(benchmark.at("name"), point));
        }
    return all;
}

json question(const std::string& benchmark, json point) {
    for (const auto& sweep : find(benchmark)->sweeps)
        if (!point.contains(sweep.name))
            std::visit([&](const auto& value) { point[sweep.name] = value; }, sweep.values(Scale{}).front());
    return {{"id", 0}, {"benchmark", benchmark}, {"point", std::move(point)}};
}

double answer(const std::string& benchmark, const json& point, const json& simulate,
              const std::string& metric) {
    for (const auto& line : ask(json::array({question(benchmark, point)}), simulate))
        if (line.at("event") == "record" && line.at("metric") == metric) return line.at("samples").at(0);
    throw std::runtime_error("no record of " + metric);
}

std::vector<std::string> tiers() { return machine::network_tiers(); }

json packet_machine() {
    json described = round_machine();
    described["links"]["rate"] = 425e6;
    described["packets"] = {{"payload", 240}, {"overhead", 16}, {"granule", 32}};
    described["node"].update({{"injection", 1.7e9}, {"reception", 380e6}});
    return described;
}

json two_ranks(json described) {
    described["node"].update({{"cores", 2}, {"ranks", 2}, {"local", 2.1e9}, {"local_latency", 7e-7}});
    return described;
}

json topologies() {
    return {{{"kind", "torus"}, {"shape", {4, 3, 2}}},
            {{"kind", "mesh"}, {"shape", {3, 4}}},
            {{"kind", "fat-tree"}, {"arity", {4, 3}}, {"up", {2}}},
            {{"kind", "dragonfly"}, {"groups", 5}, {"routers", 2}, {"nodes", 2}, {"links", 2}},
            {{"kind", "single"}}};
}

json every_placement(const json& described, const json& topology, const std::string& tier) {
    const auto made = machine::make_topology(topology);
    return {{"machine", described},
            {"topology", topology},
            {"ranks", made->nodes() * described.at("node").at("ranks").get<int>()},
            {"network", tier},
            {"mapping", "T" + std::string("XYZABC").substr(0, made->axes().size())}};
}

Ends ends(const json& simulate, const Body& body) {
    Ends all(simulate.at("ranks").get<std::size_t>());
    play(simulate, [&](Comm world, Control control) -> Task<> {
        co_await body(world, control);
        all[static_cast<std::size_t>(world.rank())] = control.now();
    });
    return all;
}

Body round_trip(int peer, std::size_t bytes) {
    return [=](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(bytes);
        if (world.rank() == 0) {
            co_await world.send(data, peer);
            co_await world.recv(data, peer);
        } else if (world.rank() == peer) {
            co_await world.recv(data, 0);
            co_await world.send(data, 0);
        }
    };
}

json wide_open(double engines) {
    json described = round_machine();
    described["links"].erase("rate");
    described["buffer"] = 255 * 256;  // where a buffer is full its packets wait, however quick the links are
    described["packets"] = {{"payload", 240}, {"overhead", 16}, {"granule", 32}};
    if (engines > 0) described["node"].update({{"injection", engines}, {"reception", engines}});
    return described;
}

}  // namespace leadline::testing_sim
