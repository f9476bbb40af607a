// Messages as fluid: each time is worked out by hand from the rates that the shared resources must give.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "machine/network.hpp"

namespace leadline::machine {
namespace {

constexpr Time us = 1'000'000;

// Bytes a microsecond are easy on the eye: 100 B/us a link, no header, 1 us base and 0.1 us a hop.
Machine plain() {
    Machine machine;
    machine.links = {.rate = 100e6, .hop = us / 10, .base = us};
    return machine;
}

struct Reports final : Listener {
    void injected(std::uint32_t token, Time when) override { out.emplace(token, when); }
    void arrived(std::uint32_t token, Time when) override { in.emplace(token, when); }
    std::map<std::uint32_t, Time> out, in;
};

struct Sent {
    Time when;
    Transfer transfer;
};

// A network on its own: sends in time order, and lets happen what happens.
Reports run(const Machine& machine, const nlohmann::json& topology, const std::vector<Sent>& sends) {
    const auto nodes = make_topology(topology);
    Reports reports;
    const auto network = make_network("flow", machine, *nodes, reports, false);
    for (const Sent& each : sends) {
        while (network->next() < each.when) network->advance();
        network->send(each.when, each.transfer);
    }
    while (network->next() != never) network->advance();
    EXPECT_EQ(reports.out.size(), sends.size());
    EXPECT_EQ(reports.in.size(), sends.size());
    return reports;
}

nlohmann::json line(int nodes) { return {{"kind", "mesh"}, {"shape", {nodes}}}; }
nlohmann::json cube(int side) { return {{"kind", "torus"}, {"shape", {side, side, side}}}; }

Transfer message(int from, int to, std::int64_t bytes, std::uint32_t token) {
    return {.from = from, .to = to, .bytes = bytes, .token = token};
}

// Several messages at time 0, their tokens counted from 0.
std::vector<Sent> at_once(const std::vector<std::array<int, 3>>& each) {
    std::vector<Sent> sends;
    sends.reserve(each.size());
    for (const auto& [from, to, bytes] : each)
        sends.push_back({0, message(from, to, bytes, static_cast<std::uint32_t>(sends.size()))});
    return sends;
}

// The law that all tiers share, to the picosecond: packets of 32 B with 8 B headers, an awkward rate, and an
// engine slower than the link.
TEST(Flow, ALoneMessageKeepsTheIdleLaw) {
    Machine machine = plain();
    machine.links.rate = 374.97e6;
    machine.packets = {.payload = 240, .overhead = 16, .granule = 32};
    for (const double reception : {infinite, 123.4e6}) {
        machine.node.reception = reception;
        const double rate = std::min(machine.links.rate, reception);
        for (const std::int64_t bytes : {0, 1, 240, 241, 4096, 1'000'003}) {
            const Reports reports = run(machine, line(5), {{777, message(1, 4, bytes, 0)}});
            const Time takes = transfer_time(machine.packets.wire(bytes), rate);
            EXPECT_EQ(reports.out.at(0), 777 + takes);
            EXPECT_EQ(reports.in.at(0), 777 + takes + machine.links.base + 3 * machine.links.hop);
        }
    }
}

// Where nothing is finite a message takes its latency alone.
TEST(Flow, NothingTakesNoTimeAtAnInfiniteRate) {
    Machine machine;
    machine.links.hop = 5;
    const Reports reports = run(machine, line(4), {{10, message(0, 3, 1 << 20, 0)}});
    EXPECT_EQ(reports.out.at(0), 10);
    EXPECT_EQ(reports.in.at(0), 10 + 3 * 5);
}

// 0->2 and 1->2 share the reception engine of 2 (and the second yields on the link, which has room): 50 each,
// so 1000 B take 20 us rather than 10.
TEST(Flow, TwoEqualFlowsHaveHalfEach) {
    Machine machine = plain();
    machine.node.injection = 100e6;
    const Reports reports = run(machine, line(3), at_once({{1, 0, 1000}, {1, 2, 1000}}));
    EXPECT_EQ(reports.out.at(0), 20 * us);
    EXPECT_EQ(reports.out.at(1), 20 * us);
}

// 1->0 and 1->2 share the injection engine, 1000 and 3000 B: 50 each until the shorter ends at 20 us; the
// other has 2000 B left and 100: 20 us more.
TEST(Flow, WhoStaysHasTheRest) {
    Machine machine = plain();
    machine.node.injection = 100e6;
    const Reports reports = run(machine, line(3), at_once({{1, 0, 1000}, {1, 2, 3000}}));
    EXPECT_EQ(reports.out.at(0), 20 * us);
    EXPECT_EQ(reports.out.at(1), 40 * us);
}

// Rates that are no more leave nothing behind: once all has arrived there is no next event, though the long
// message was to end much later while it shared the engine.
TEST(Flow, NothingHappensAfterTheLastMessage) {
    Machine machine = plain();
    machine.node.injection = 100e6;
    const auto nodes = make_topology(line(3));
    Reports reports;
    const auto network = make_network("flow", machine, *nodes, reports, false);
    for (const Sent& each : at_once({{1, 0, 1000}, {1, 2, 3000}})) network->send(each.when, each.transfer);
    while (reports.in.size() < 2) network->advance();
    EXPECT_EQ(network->next(), never);
}

// Nested pairs on a line: 0->3 comes through where 1->2 begins, and has the link alone for 10 us. Only then
// does the inner message move: a strictly starved flow ends 5 us after.
TEST(Flow, TransitStarvesLocalInjectionUntilItEnds) {
    const auto sends = at_once({{0, 3, 1000}, {1, 2, 500}});
    const Reports reports = run(plain(), line(4), sends);
    EXPECT_EQ(reports.out.at(0), 10 * us);
    EXPECT_EQ(reports.out.at(1), 15 * us);
}

// The same on a machine without the rule: 50 each; the inner ends at 10 us, when the outer has 500 B left.
TEST(Flow, WithoutTheRuleBothShare) {
    Machine machine = plain();
    machine.transit_first = false;
    const Reports reports = run(machine, line(4), at_once({{0, 3, 1000}, {1, 2, 500}}));
    EXPECT_EQ(reports.out.at(0), 15 * us);
    EXPECT_EQ(reports.out.at(1), 10 * us);
}

// Transit that is held elsewhere leaves room: the reception engine of 3 takes 60 of 0->3, so 1->2 has 40.
TEST(Flow, LocalInjectionHasWhatTransitLeaves) {
    Machine machine = plain();
    machine.node.reception = 60e6;
    const Reports reports = run(machine, line(4), at_once({{0, 3, 6000}, {1, 2, 400}}));
    EXPECT_EQ(reports.out.at(0), 100 * us);
    EXPECT_EQ(reports.out.at(1), 10 * us);
}

// A local flow that is under way stops when transit begins at 4 us and goes on when it has ended at 14 us:
// 400 of its 1000 B are gone by then.
TEST(Flow, TransitInterruptsWhatIsUnderWay) {
    const Reports reports =
        run(plain(), line(4), {{0, message(1, 2, 1000, 0)}, {4 * us, message(0, 3, 1000, 1)}});
    EXPECT_EQ(reports.out.at(1), 14 * us);
    EXPECT_EQ(reports.out.at(0), 20 * us);
}

std::vector<std::array<int, 3>> star(bool out, int bytes) {
    std::vector<std::array<int, 3>> all;
    for (const int neighbour : {1, 3, 4, 12, 16, 48})
        all.push_back(out ? std::array{0, neighbour, bytes} : std::array{neighbour, 0, bytes});
    return all;
}

// Six neighbours at once on a 4x4x4 torus: a link each, so 1000 B take 10 us; with an injection engine of 300
// all six have 50, 20 us; with half the links' rate in such an engine the links bind again.
TEST(Flow, FanOutIsBoundByLinksThenByInjection) {
    Machine machine = plain();
    for (const auto& [_, when] : run(machine, cube(4), at_once(star(true, 1000))).out)
        EXPECT_EQ(when, 10 * us);
    machine.node.injection = 300e6;
    for (const auto& [_, when] : run(machine, cube(4), at_once(star(true, 1000))).out)
        EXPECT_EQ(when, 20 * us);
    machine.links.rate = 50e6;
    for (const auto& [_, when] : run(machine, cube(4), at_once(star(true, 1000))).out)
        EXPECT_EQ(when, 20 * us);
}

// The other way the reception engine divides: 400 among six, 6000 B in all.
TEST(Flow, FanInIsBoundByReception) {
    Machine machine = plain();
    machine.node.reception = 400e6;
    for (const auto& [_, when] : run(machine, cube(4), at_once(star(false, 1000))).out)
        EXPECT_EQ(when, 15 * us);
}

// A message within the node uses its local engine alone, 500 B/us, whatever arrives and leaves meanwhile.
TEST(Flow, TheLocalEngineIsApart) {
    Machine machine = plain();
    machine.node = {.injection = 100e6, .reception = 100e6, .local = 500e6, .local_latency = 3};
    const Reports reports = run(machine, line(3), at_once({{1, 1, 1000}, {0, 1, 1000}, {1, 2, 1000}}));
    EXPECT_EQ(reports.out.at(0), 2 * us);
    EXPECT_EQ(reports.in.at(0), 2 * us + 3);
    EXPECT_EQ(reports.out.at(1), 10 * us);
    EXPECT_EQ(reports.out.at(2), 10 * us);
}

// Ranks of one node share that engine, whichever they are; the second message of a pair follows the first.
TEST(Flow, MessagesOfOnePairFollowEachOther) {
    const Reports reports = run(plain(), line(2), at_once({{0, 1, 1000}, {0, 1, 500}, {0, 1, 700}}));
    EXPECT_EQ(reports.out.at(0), 10 * us);
    EXPECT_EQ(reports.out.at(1), 15 * us);
    EXPECT_EQ(reports.out.at(2), 22 * us);
}

// Four messages of 10 B, each 0.1 us at the link's rate, leave an engine with a gap of 2 us at 0, 2, 4, 6 us,
// to one neighbour or to two; and arrive so at an engine that several send to.
TEST(Flow, TheGapSetsMessagesApart) {
    Machine machine = plain();
    machine.node.message_gap = 2 * us;
    const Time takes = us / 10;
    const Reports out = run(machine, line(3), at_once({{1, 0, 10}, {1, 2, 10}, {1, 0, 10}, {1, 2, 10}}));
    EXPECT_EQ(out.out.at(0), takes);
    EXPECT_EQ(out.out.at(1), 2 * us + takes);
    EXPECT_EQ(out.out.at(2), 4 * us + takes);
    EXPECT_EQ(out.out.at(3), 6 * us + takes);
    const Reports in = run(machine, line(3), at_once({{0, 1, 10}, {2, 1, 10}}));
    const Time first = takes + machine.links.base + machine.links.hop;
    EXPECT_EQ(std::min(in.in.at(0), in.in.at(1)), first);
    EXPECT_EQ(std::max(in.in.at(0), in.in.at(1)), first + 2 * us);
}

// From (0, 0) to (1, 1) of a 4x4 torus there are two ways. While a deterministic message takes the first, an
// adaptive one takes the other and meets nobody; a deterministic one waits for its turn.
TEST(Flow, AnAdaptiveMessageAvoidsLoadedLinks) {
    const nlohmann::json torus = {{"kind", "torus"}, {"shape", {4, 4}}};
    const int far = make_topology(torus)->node_at({1, 1});
    auto sends = at_once({{0, far, 1000}, {0, far, 1000}});
    EXPECT_EQ(run(plain(), torus, sends).out.at(1), 20 * us);
    sends[1].transfer.adaptive = true;
    EXPECT_EQ(run(plain(), torus, sends).out.at(1), 10 * us);
}

struct Random {
    std::vector<Sent> sends;
    std::int64_t bytes = 0;
};

Random many(int nodes, int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Random all;
    for (int i = 0; i < count; ++i) {
        const auto from = static_cast<int>(random() % static_cast<unsigned>(nodes));
        const auto to = static_cast<int>(random() % static_cast<unsigned>(nodes));
        const auto bytes = static_cast<int>(random() % 5000);
        all.sends.push_back(
            {static_cast<Time>(i / 16) * us, message(from, to, bytes, static_cast<unsigned>(i))});
        all.bytes += bytes;
    }
    return all;
}

// Whatever is sent arrives, in an order that is possible: no message is faster than alone, and the whole no
// faster than the engines let it.
TEST(Flow, NoMessageIsLostOrTooFast) {
    Machine machine = plain();
    machine.node = {.injection = 150e6, .reception = 120e6, .local = 200e6};
    const auto torus = make_topology(cube(3));
    const Random random = many(27, 3000, 5);
    const Reports reports = run(machine, cube(3), random.sends);
    for (const Sent& each : random.sends) {
        const Transfer& t = each.transfer;
        const Time alone = transfer_time(t.bytes, t.from == t.to ? machine.node.local : machine.links.rate);
        EXPECT_GE(reports.out.at(t.token), each.when + alone);
    }
}

// Rates twice as high halve what is left of a time when the latency is taken away. Each end is rounded up to
// a picosecond, and so is each change of rate: a few of them.
TEST(Flow, TwiceTheRatesHalveTheTransfers) {
    Machine machine = plain();
    machine.node = {.injection = 150e6, .reception = 120e6, .local = 200e6};
    Random random = many(27, 500, 6);
    for (Sent& each : random.sends) each.when = 0;
    const Reports slow = run(machine, cube(3), random.sends);
    machine.links.rate *= 2;
    machine.node = {.injection = 300e6, .reception = 240e6, .local = 400e6};
    const Reports fast = run(machine, cube(3), random.sends);
    for (const auto& [token, when] : fast.out)
        EXPECT_NEAR(static_cast<double>(when), static_cast<double>(slow.out.at(token)) / 2, 1000);
}

// The same calls give the same times, to the bit, also where a pool of thousands is solved in quanta.
TEST(Flow, TheSameMessagesTakeTheSameTimes) {
    Machine machine = plain();
    machine.node = {.injection = 150e6, .reception = 120e6, .local = 200e6};
    Random random = many(512, 1500, 7);
    for (Sent& each : random.sends) each.when = 0;
    const Reports once = run(machine, cube(8), random.sends);
    const Reports again = run(machine, cube(8), random.sends);
    EXPECT_EQ(once.out, again.out);
    EXPECT_EQ(once.in, again.in);
}

// A symmetric exchange on a torus: every node to its six neighbours, each with a link of its own. All is over
// when one alone would be, in whatever order the messages were handed over.
TEST(Flow, AnExchangeOfNeighboursIsAsFastAsOneMessage) {
    const auto torus = make_topology(cube(8));
    std::vector<Sent> sends;
    for (int from = 0; from < torus->nodes(); ++from)
        for (int to = 0; to < torus->nodes(); ++to)
            if (torus->hops(from, to) == 1)
                sends.push_back({0, message(from, to, 1000, static_cast<std::uint32_t>(sends.size()))});
    for (int turn = 0; turn < 2; ++turn, std::ranges::reverse(sends))
        for (const auto& [_, when] : run(plain(), cube(8), sends).out) ASSERT_EQ(when, 10 * us);
}

// Messages whose pool is solved in quanta only: to one node from 4095 others, 100 B each at 50 B/us, ends
// when the reception engine has taken 409500 B, since it is never idle.
TEST(Flow, APoolLosesNoBytes) {
    Machine machine = plain();
    machine.node.reception = 50e6;
    std::vector<std::array<int, 3>> all;
    for (int from = 1; from < 4096; ++from) all.push_back({from, 0, 100});
    Time last = 0;
    for (const auto& [_, when] : run(machine, cube(16), at_once(all)).out) last = std::max(last, when);
    EXPECT_GE(last, 8190 * us);
    EXPECT_LE(last, 8190 * us * 1.05);
}

// Six axes have 720 orders, and a ring of 80,000 nodes routes of 40,000 links: neither is cut short. By its
// gap a node takes in a message each microsecond, whichever way each came.
TEST(Flow, ManyWaysAndLongOnesAreKeptApart) {
    Machine machine = plain();
    machine.node.message_gap = us;
    Random random = many(729, 20'000, 8);
    for (Sent& each : random.sends) each.transfer.adaptive = true;
    const Reports reports = run(machine, {{"kind", "torus"}, {"shape", {3, 3, 3, 3, 3, 3}}}, random.sends);
    std::map<int, std::vector<Time>> at;
    for (const auto& [_, t] : random.sends)
        if (t.from != t.to) at[t.to].push_back(reports.in.at(t.token));
    for (auto& [node, times] : at) {
        std::ranges::sort(times);
        for (std::size_t i = 1; i < times.size(); ++i) EXPECT_GE(times[i], times[i - 1] + us) << node;
    }
    const Reports round = run(plain(), {{"kind", "torus"}, {"shape", {80'000}}}, at_once({{0, 40'000, 100}}));
    EXPECT_EQ(round.in.at(0), us + 40'000 * (us / 10) + us);
}

}  // namespace
}  // namespace leadline::machine
