// What ranks of a node have of its cores, and what its sockets cost them, by known answers.
#include <gtest/gtest.h>

#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// Two sockets of two cores, each of two threads; both threads of a core together do 1.25 of what one alone
// does.
json threaded() {
    json described = round_machine();
    described["node"] = {{"cores", 4},          {"sockets", 2},           {"threads", 2}, {"ranks", 8},
                         {"thread_gain", 1.25}, {"socket_latency", 7e-7}, {"flops", 1e9}};
    return described;
}

json placed(int ranks, const std::string& mapping) {
    json simulate = on(ranks, threaded(), {2});
    simulate["mapping"] = mapping;
    return simulate;
}

// What a thousand steps of 1 ns take each rank.
std::vector<double> times_of_work(const json& simulate) {
    std::vector<double> times(simulate.at("ranks").get<std::size_t>());
    play(simulate, [&](Comm world, Control control) -> Task<> {
        const double began = control.now();
        co_await control.work(1000);
        times[static_cast<std::size_t>(world.rank())] = control.now() - began;
    });
    return times;
}

constexpr double alone = 1e-6;
constexpr double shared = 2e-6 / 1.25;

void expect_times(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << "rank " << i;
}

// Placement after placement fills a socket with four ranks on two cores before it comes to the other one.
TEST(Cores, RanksOfOneSocketShareItsCoresBeforeTheOtherIsUsed) {
    expect_times(times_of_work(placed(4, "TX")), {shared, shared, shared, shared});
    expect_times(times_of_work(placed(5, "TX")), {shared, shared, shared, shared, alone});
}

// Sockets in turns: four ranks have a core each, the fifth is the first core's second one.
TEST(Cores, RanksOnSocketsInTurnsHaveCoresOfTheirOwnWhileThereAreAny) {
    expect_times(times_of_work(placed(4, "sockets")), {alone, alone, alone, alone});
    expect_times(times_of_work(placed(5, "sockets")), {shared, alone, alone, alone, shared});
}

// Ranks of another node share nothing with the first one's.
TEST(Cores, NodesShareNothing) {
    expect_times(times_of_work(placed(2, "XT")), {alone, alone});
    expect_times(times_of_work(placed(10, "TX")),
                 {shared, shared, shared, shared, shared, shared, shared, shared, alone, alone});
}

// A node each, whatever the mapping does with cores; more ranks than nodes begin again at the first.
TEST(Cores, RanksOnNodesOfTheirOwnShareNothing) {
    for (const char* mapping : {"TX", "XT"}) {
        json simulate = on(4, threaded(), {4});
        simulate["mapping"] = mapping;
        simulate["placement"] = "nodes";
        expect_times(times_of_work(simulate), {alone, alone, alone, alone});
    }
    json many = on(10, threaded(), {2});
    many["placement"] = "nodes";
    many["mapping"] = "TX";
    expect_times(times_of_work(many),
                 {shared, shared, shared, shared, shared, shared, shared, shared, alone, alone});
    many = on(17, threaded(), {2});
    many["placement"] = "nodes";
    EXPECT_THROW(times_of_work(many), Unsupported);
}

// A message between two sockets takes what is told beyond one within.
TEST(Cores, AMessageBetweenSocketsTakesLonger) {
    const json point{{"bytes", 8}, {"buffers", "reused"}};
    json within = on(2, threaded(), {2});
    within["placement"] = "core-group";
    json between = within;
    between["placement"] = "sockets";
    EXPECT_NEAR(answer("pingpong", point, between, "latency") - answer("pingpong", point, within, "latency"),
                7e-7, 1e-12);
}

}  // namespace
}  // namespace leadline
