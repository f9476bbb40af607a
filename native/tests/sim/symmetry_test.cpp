// Where all ranks do the same some are played for all: what is answered must be what all of them give.
#include "machine/symmetry.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

constexpr int all = 1 << 30;
constexpr int some = 2;

// Long messages ask first, and cores answer when they call.
json asks(json described) {
    described["node"]["progress"] = "calls";
    described["protocol"][0]["up_to"] = 1200;
    described["protocol"].push_back({{"name", "rendezvous"},
                                     {"send_overhead", 5e-7},
                                     {"receive_overhead", 6e-7},
                                     {"handshake", true},
                                     {"handshake_overhead", 2e-7}});
    return described;
}

// Tori on which the ranks fill nodes of one or two, core by core.
std::vector<json> machines(const std::string& tier) {
    std::vector<json> made;
    made.push_back(every_placement(packet_machine(), {{"kind", "torus"}, {"shape", {12}}}, tier));
    made.push_back(
        every_placement(packet_machine(), {{"kind", "torus"}, {"shape", {6, 5}}, {"ties", "growing"}}, tier));
    made.push_back(
        every_placement(asks(two_ranks(packet_machine())), {{"kind", "torus"}, {"shape", {4, 2, 4}}}, tier));
    return made;
}

std::vector<json> records(const json& points, json simulate, int least_played) {
    simulate["least_played"] = least_played;
    std::vector<json> found;
    for (json& line : ask(points, simulate)) {
        line.erase("duration");
        if (line.at("event") == "record" || line.at("event") == "skip") found.push_back(std::move(line));
    }
    return found;
}

// By discovery: of every benchmark that says after how many ranks its program is the same.
void same_as_all(const std::string& tier) {
    int tried = 0, told = 0;
    for (const json& benchmark : describe({.ranks = 8, .per_node = 2, .hops = 2})) {
        const std::string name = benchmark.at("name");
        if (!find(name)->alike.period) continue;
        const json points = points_of(benchmark);
        for (const json& simulate : machines(tier)) {
            const auto wanted = records(points, simulate, all);
            const auto found = records(points, simulate, some);
            ASSERT_EQ(found.size(), wanted.size()) << name;
            for (std::size_t i = 0; i < found.size(); ++i) {
                if (wanted[i].at("event") == "skip") {
                    EXPECT_EQ(found[i], wanted[i]);
                    continue;
                }
                const std::string tiers = found[i].at("network");
                const bool says = tiers.ends_with("symmetry");
                EXPECT_EQ(wanted[i].at("network").get<std::string>().find("symmetry"), std::string::npos);
                told += says ? 1 : 0;
                const double value = wanted[i].at("samples").at(0);
                EXPECT_NEAR(found[i].at("samples").at(0), value, 1e-9 * value)
                    << simulate.at("topology") << ' ' << simulate.at("ranks") << wanted[i]
                    << points[wanted[i].at("id").get<std::size_t>()];
            }
        }
        ++tried;
    }
    EXPECT_GE(tried, 9);
    EXPECT_GE(told, 50);  // an answer says that not all ranks were played
}

TEST(Symmetry, SomeRanksGiveWhatAllGiveByLogGp) { same_as_all("loggp"); }
TEST(Symmetry, SomeRanksGiveWhatAllGiveByFlow) { same_as_all("flow"); }
TEST(Symmetry, SomeRanksGiveWhatAllGiveByWhatIsEnough) { same_as_all("auto"); }

struct Played {
    std::vector<double> ends;  // of each rank, s; less than nothing: it was not played
    int programs = 0;          // that were begun, of all that was tried
};
using Body = std::function<Task<>(Comm&, Control&)>;

Played played(json simulate, int period, int least_played, const Body& body) {
    simulate["least_played"] = least_played;
    Played found{.ends = std::vector<double>(simulate.at("ranks").get<std::size_t>(), -1)};
    play(
        simulate,
        [&](Comm world, Control control) -> Task<> {
            ++found.programs;
            co_await body(world, control);
            found.ends[static_cast<std::size_t>(world.rank())] = control.now();
        },
        period);
    return found;
}

// Programs by chance of shifts and of collectives by shifts, computation between, whole and half machines.
struct Chance {
    std::mt19937_64 random;
    int below(int bound) { return static_cast<int>(random() % static_cast<std::uint64_t>(bound)); }
    bool one_in(int many) { return below(many) == 0; }
};

// The same numbers on every rank.
Task<> by_chance(Comm& world, Control& control, Chance chance) {
    const int ranks = world.size();
    const auto from = [&](int by) { return (world.rank() + ranks - by) % ranks; };
    const auto to = [&](int by) { return (world.rank() + by) % ranks; };
    std::vector<std::byte> out(50'000);
    std::vector<std::byte> in(50'000);
    for (int step = 0; step < 12; ++step) {
        const int by = 1 + chance.below(ranks - 1);
        const auto bytes =
            static_cast<std::size_t>(chance.one_in(2) ? chance.below(300) : chance.below(40'000));
        const Bytes gives = std::span(out).first(bytes);
        switch (chance.below(5)) {
            case 0: co_await world.sendrecv(gives, to(by), in, from(by), step); break;
            case 1: {
                const int other = 1 + chance.below(ranks - 1);
                std::vector<Comm::Request> requests{
                    world.irecv(in, from(by), step), world.irecv_any(in, 100 + step),
                    world.isend(gives, to(other), 100 + step), world.isend(gives, to(by), step)};
                if (chance.one_in(2)) co_await world.sendrecv({}, to(by), {}, from(by), 200 + step);
                co_await control.busy(1e-6 * chance.below(60));
                co_await world.wait_all(requests);
                break;
            }
            case 2: co_await control.busy(1e-6 * chance.below(30)); break;
            case 3: co_await world.barrier(); break;
            default: {
                const auto all = static_cast<std::size_t>(ranks) * (bytes / 200);
                std::vector<std::byte> blocks(all);
                const Call call{.what = Collective::alltoall,
                                .out = blocks,
                                .in = blocks,
                                .algorithm = chance.one_in(2) ? "bruck" : "pairwise"};
                co_await world.collective(call);
            }
        }
    }
}

// To the last picosecond where a node has one rank. Of two on a node, messages come to nodes at one instant
// of which the model does not say who is first: the two ways may take turns otherwise.
TEST(Symmetry, ProgramsByChanceEndTheSame) {
    int fewer = 0, same = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Chance chance{std::mt19937_64(seed)};
        json topology{{"kind", "torus"}, {"ties", chance.one_in(2) ? "growing" : "parity"}};
        std::vector<int> shape(1 + static_cast<std::size_t>(chance.below(3)));
        for (int& length : shape) length = 2 + chance.below(4);
        topology["shape"] = shape;
        if (chance.one_in(4)) topology = {{"kind", "fat-tree"}, {"arity", {2 + chance.below(3), 2, 3}}};
        const bool one = chance.one_in(2);
        const json described = one ? packet_machine() : two_ranks(packet_machine());
        json simulate = every_placement(chance.one_in(2) ? asks(described) : described, topology,
                                        chance.one_in(2) ? "loggp" : "flow");
        const Body body = [&](Comm& world, Control& control) { return by_chance(world, control, chance); };
        const Played wanted = played(simulate, 1, all, body);
        const Played found = played(simulate, 1, some, body);
        double off = 0;
        for (std::size_t rank = 0; rank < wanted.ends.size(); ++rank)
            if (found.ends[rank] >= 0)
                off = std::max(off, std::abs(found.ends[rank] / wanted.ends[rank] - 1));
        EXPECT_LE(off, one ? 1e-9 : 0.1) << "seed " << seed << ": " << simulate.at("topology");
        if (found.programs >= wanted.programs) continue;
        ++fewer;
        if (off < 1e-9) ++same;
    }
    EXPECT_GE(fewer, 30);
    EXPECT_GE(same, fewer * 3 / 4);
}

// ------------------------------------------------------------------------------------- who is played

// Long and short messages over many distances, from whom it may be and in order, on top of each other.
Task<> shifts(Comm& world, Control& control) {
    const int ranks = world.size();
    std::vector<std::byte> out(20'000);
    std::vector<std::byte> in(20'000);
    for (const int by : {1, 3, 10, ranks / 2, ranks - 1}) {
        const auto bytes = static_cast<std::size_t>(by * 977 % 20'000);
        co_await control.busy(1e-6 * by);
        std::vector<Comm::Request> requests{
            by % 2 == 0 ? world.irecv_any(in, by) : world.irecv(in, (world.rank() + ranks - by) % ranks, by),
            world.isend(std::span(out).first(bytes), (world.rank() + by) % ranks, by)};
        co_await world.wait_all(requests);
    }
}

json torus(json described, const std::vector<int>& shape, const std::string& mapping) {
    json simulate = on(1, std::move(described), shape);
    int nodes = 1;
    for (const int length : shape) nodes *= length;
    simulate["ranks"] = nodes * simulate.at("machine").at("node").at("ranks").get<int>();
    simulate["mapping"] = mapping;
    return simulate;
}

// 6 x 4 nodes, X fastest: ties go by parity, so a step is two rows.
TEST(Symmetry, RanksOfTheFirstRowsArePlayedAndEndAsTheyDoWhereAllAre) {
    for (const std::string tier : {"loggp", "flow"}) {
        json simulate = torus(packet_machine(), {6, 4}, "XYT");
        simulate["machine"]["node"] = {{"cores", 1}, {"ranks", 1}, {"injection", 2e9}, {"reception", 1.5e9}};
        simulate["network"] = tier;
        const Played wanted = played(simulate, 1, all, shifts);
        const Played found = played(simulate, 1, some, shifts);
        EXPECT_EQ(wanted.programs, 24);
        EXPECT_EQ(found.programs, 12);
        for (std::size_t rank = 0; rank < 12; ++rank) {
            EXPECT_NEAR(found.ends[rank], wanted.ends[rank], 1e-9 * wanted.ends[rank]) << tier << rank;
            EXPECT_NEAR(wanted.ends[rank], wanted.ends[rank + 12], 1e-9 * wanted.ends[rank]) << tier << rank;
        }
    }
}

// Ranks of a node far apart: no step of numbers is a move, yet one node stands for all where its ties go by
// parity, and two along each axis where they do not.
TEST(Symmetry, AnAlltoallAlongTheAxesIsThatOfAllRanksInWhicheverOrder) {
    const Body body = [](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> blocks(static_cast<std::size_t>(world.size()) * 3000);
        const Call call{.what = Collective::alltoall, .out = blocks, .in = blocks, .algorithm = "torus"};
        co_await world.collective(call);
    };
    int tried = 0, same = 0;  // of several ranks on a node, one is first
    for (const std::string tier : {"loggp", "flow"})
        for (const std::string ties : {"parity", "growing"})
            for (const std::vector<int>& shape : {std::vector{6, 4}, {3, 8}, {4, 2, 6}, {5, 3}})
                for (const int on_each : {1, 2, 3}) {
                    json described = on_each == 1 ? packet_machine() : two_ranks(packet_machine());
                    described["node"]["cores"] = described["node"]["ranks"] = on_each;
                    json simulate =
                        torus(asks(std::move(described)), shape, shape.size() == 2 ? "XYT" : "XYZT");
                    simulate["network"] = tier;
                    simulate["topology"]["ties"] = ties;
                    const Played wanted = played(simulate, 1, all, body);
                    const Played found = played(simulate, 1, some, body);
                    EXPECT_EQ(wanted.programs, simulate.at("ranks"));
                    EXPECT_LT(found.programs, wanted.programs);
                    // One node stands for all where ties go by parity; of one rank a node numbers are tried
                    // first.
                    if (ties == "parity" && shape.size() == 3) {
                        EXPECT_EQ(found.programs, std::max(on_each, 2));
                    }
                    const double end = std::ranges::max(wanted.ends);
                    const double off = std::abs(std::ranges::max(found.ends) - end) / end;
                    EXPECT_LE(off, on_each == 1 ? 1e-9 : 1e-5) << tier << simulate.at("topology") << on_each;
                    ++tried;
                    if (off <= 1e-9) ++same;
                }
    EXPECT_GE(same, tried - 1);
}

// What comes over one cable to a node takes turns there, whichever cable it left its own node by.
TEST(Symmetry, MessagesOfTwoWaysShareTheWayIntoANode) {
    json simulate = torus(packet_machine(), {6, 8}, "XYT");
    simulate["topology"]["ties"] = "growing";
    simulate["machine"]["node"] = {{"cores", 1}, {"ranks", 1}, {"injection", 2e9}, {"reception", 1.5e9}};
    const Body body = [](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(20'000);
        const int ranks = world.size();
        std::vector<Comm::Request> requests;
        for (const int by : {12, 19}) {  // two up, and one to the right and three up
            requests.push_back(world.irecv(data, (world.rank() + ranks - by) % ranks));
            requests.push_back(world.isend(data, (world.rank() + by) % ranks));
        }
        co_await world.wait_all(requests);
    };
    const Played wanted = played(simulate, 1, all, body);
    const Played found = played(simulate, 1, some, body);
    EXPECT_EQ(found.programs, 6);
    for (std::size_t rank = 0; rank < 6; ++rank)
        EXPECT_NEAR(found.ends[rank], wanted.ends[rank], 1e-9 * wanted.ends[rank]) << rank;
}

// Ranks 2 i and 2 i + 1 on neighbours: of a node's two ranks one is among the first and one among the last.
TEST(Symmetry, RanksOfANodeMayBeFarApart) {
    const auto path =
        std::filesystem::temp_directory_path() / ("leadline-symmetry-" + std::to_string(getpid()));
    {
        std::ofstream file(path);
        for (int i = 0; i < 8; ++i) file << i << " 0\n" << (i + 1) % 8 << " 1\n";
    }
    json simulate = torus(two_ranks(packet_machine()), {8}, "file:" + path.string());
    simulate["topology"]["ties"] = "growing";
    simulate["network"] = "flow";
    // A node's ranks send to one node, one after the other, and wait for each other on the way.
    const Body body = [](Comm& world, Control& control) -> Task<> {
        std::vector<std::byte> data(30'000);
        const int ranks = world.size();
        co_await control.busy(1e-6 * (world.rank() % 2));
        std::vector<Comm::Request> requests{world.irecv(data, (world.rank() + ranks - 6) % ranks),
                                            world.isend(data, (world.rank() + 6) % ranks)};
        co_await world.wait_all(requests);
    };
    const Played wanted = played(simulate, 2, all, body);
    const Played found = played(simulate, 2, some, body);
    std::filesystem::remove(path);
    EXPECT_EQ(found.programs, 2);
    for (std::size_t rank = 0; rank < 2; ++rank)
        EXPECT_NEAR(found.ends[rank], wanted.ends[rank], 1e-9 * wanted.ends[rank]) << rank;
}

TEST(Symmetry, AllArePlayedWhereTheyMightNotBeAlike) {
    const auto count = [](const json& simulate, int period) {
        return played(simulate, period, some, shifts).programs;
    };
    const json one = torus(round_machine(), {6, 4}, "XYT");
    const json two = torus(two_ranks(round_machine()), {6, 4}, "TXY");
    EXPECT_EQ(count(one, 1), 12);
    EXPECT_EQ(count(one, 8), 24);  // no two rows are a multiple of what the program repeats itself after
    EXPECT_EQ(count(one, 0), 24);
    EXPECT_EQ(count(two, 1), 24);  // of 48
    json other = two;
    // Ranks of a node are 24 apart: one of them is served first. And its first message says that it is not by
    // axes.
    other["mapping"] = "XYT";
    EXPECT_EQ(count(other, 1), 1 + 48);
    other["mapping"] = "random:1";
    EXPECT_EQ(count(other, 1), 1 + 48);
    other = one;
    other["topology"]["kind"] = "mesh";
    EXPECT_EQ(count(other, 1), 24);
    other = one;
    other["ranks"] = 20;  // they do not go round
    EXPECT_EQ(count(other, 1), 20);
    other = one;
    other["topology"]["ties"] = "growing";
    EXPECT_EQ(count(other, 1), 6);
    other = one;
    other["network"] = "packet";
    EXPECT_EQ(count(other, 1), 24);
    other = one;
    other["machine"]["protocol"][0]["crossing_latency"] = 1e-6;
    EXPECT_EQ(count(other, 1), 24);
    other = one;
    other["machine"]["cold"] = json::array({{{"walked", 1 << 20}, {"time", 1e-4}, {"overhead", 1e-6}}});
    EXPECT_EQ(count(other, 1), 24);
}

// A word that makes ranks unlike each other has the point begun again, with all of them.
TEST(Symmetry, AllArePlayedOnceOneIsUnlikeTheOthers) {
    const json simulate = torus(round_machine(), {6, 4}, "XYT");
    const auto expect_all = [&](const Body& body) {
        const Played found = played(simulate, 1, some, body);
        EXPECT_GT(found.programs, 24);
        EXPECT_EQ(found.ends, played(simulate, 1, all, body).ends);
    };
    expect_all([](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(100);
        co_await world.bcast(data, 5);
    });
    expect_all([](Comm& world, Control&) -> Task<> {
        Comm part = co_await world.split(world.rank() % 3, world.rank());
        co_await part.barrier();
    });
    expect_all([](Comm& world, Control&) -> Task<> {
        Window window = co_await world.window(64, Exposure::allocated);
        co_await window.free();
    });
    expect_all([](Comm& world, Control&) -> Task<> {
        // Each gives its own number of bytes to all, as it gets of them.
        const auto ranks = static_cast<std::size_t>(world.size());
        std::vector<std::byte> out(ranks * ranks * ranks);
        std::vector<std::byte> in(ranks * ranks * ranks);
        std::vector<Part> gives;
        std::vector<Part> takes;
        for (int peer = 0; peer < world.size(); ++peer) {
            gives.push_back({peer, world.rank(), std::int64_t{peer} * world.rank()});
            takes.push_back({peer, peer, std::int64_t{peer} * (peer - 1) / 2});
        }
        const Call call{.what = Collective::alltoall,
                        .out = out,
                        .in = in,
                        .gives = gives,
                        .takes = takes,
                        .varies = true};
        co_await world.collective(call);
    });
    expect_all([](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(64);
        co_await world.allreduce(data, data, Type::int64, Reduce::sum);  // not by shifts alone
    });
}

}  // namespace
}  // namespace leadline
