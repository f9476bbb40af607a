// The simulated backend by known answers: what a word costs, who meets whom, what never ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "comm/comm.hpp"
#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// One way: 1 us + 3 us + one link of 0.1 us + 1000 B at 1 GB/s + 2 us.
TEST(Sim, AMessageCostsWhatLogGpSays) {
    EXPECT_DOUBLE_EQ(answer("pingpong", {{"bytes", 1000}, {"buffers", "reused"}}, on(2), "latency"), 7.1e-6);
}

// Both ends copy nothing: the same buffer or many makes no difference.
TEST(Sim, BuffersInTurnCostTheSame) {
    EXPECT_EQ(answer("pingpong", {{"bytes", 8}, {"buffers", "rotated"}}, on(2), "latency"),
              answer("pingpong", {{"bytes", 8}, {"buffers", "reused"}}, on(2), "latency"));
}

// Overheads are what the overhead benchmark finds, to a picosecond.
TEST(Sim, TheOverheadBenchmarkFindsTheOverheads) {
    EXPECT_NEAR(answer("overhead", {{"bytes", 8}}, on(2), "send_overhead"), 1e-6, 1e-12);
    EXPECT_NEAR(answer("overhead", {{"bytes", 8}}, on(2), "receive_overhead"), 2e-6, 1e-12);
}

// A window of 64 messages of 1 MB is bound by the link: 64 MB in 64 ms and the ends' few microseconds.
TEST(Sim, AWindowOfLargeMessagesFillsTheLink) {
    EXPECT_NEAR(answer("bandwidth", {{"bytes", 1'000'000}, {"window", 64}}, on(2), "bandwidth"), 1e9, 1e6);
}

// With a handshake: 0.5 us to ask, an empty packet there (3.1 us), 0.5 us to grant, an empty packet back,
// then the message as before.
TEST(Sim, ARendezvousAsksFirst) {
    json described = round_machine();
    described["protocol"][0].update({{"handshake", true}, {"handshake_overhead", 5e-7}});
    EXPECT_DOUBLE_EQ(
        answer("pingpong", {{"bytes", 1000}, {"buffers", "reused"}}, on(2, described), "latency"),
        0.5e-6 + 3.1e-6 + 0.5e-6 + 3.1e-6 + 7.1e-6);
}

// Two ranks exchange 1 MB that ask first. Both ask at once, are granted after 0.5 + 3.1 + 0.5 us, and the
// data come 3.1 + 1 + 3.1 us and 1 ms later. One way at a time the second grant leaves then, and its data are
// there 3.1 + 1 + 3.1 us and 1 ms after it. Taking them costs 2 us.
TEST(Sim, OneWayAtATimeTheSecondGrantWaitsForTheFirstData) {
    for (const std::string network : {"loggp", "flow", "packet"})
        for (const bool one_way : {false, true}) {
            json described = round_machine();
            described["protocol"][0].update(
                {{"handshake", true}, {"handshake_overhead", 5e-7}, {"one_way", one_way}});
            json simulate = on(2, described);
            simulate["network"] = network;
            double over = 0;
            play(simulate, [&](Comm world, Control control) -> Task<> {
                std::vector<std::byte> out(1'000'000), in(1'000'000);
                std::vector<Comm::Request> both{world.irecv(in, 1 - world.rank()),
                                                world.isend(out, 1 - world.rank())};
                co_await world.wait_all(both);
                over = std::max(over, control.now());
            });
            EXPECT_NEAR(over, 4.1e-6 + (one_way ? 2 : 1) * (7.2e-6 + 1e-3) + 2e-6, 2e-9) << network;
        }
}

// Rank 1 sends 1 MB at once, then takes 2 MB that ask first. The grant goes back after 0.5 + 3.1 + 0.5 us, or
// once the 1 MB has left, at 1 us + 1 ms; then 3.1 us back, 1 us to send, 3.1 us and 2 ms there, 2 us to
// receive.
TEST(Sim, AGrantPassesWhatWaitsOnlyWhereTheMachineHasItSo) {
    for (const std::string network : {"loggp", "flow"})
        for (const bool first : {false, true}) {
            json described = round_machine();
            described["node"]["control_first"] = first;
            described["protocol"][0]["up_to"] = 1'000'000;
            json large = described["protocol"][0];
            large.update({{"name", "rendezvous"}, {"handshake", true}, {"handshake_overhead", 5e-7}});
            described["protocol"].push_back(large);
            json simulate = on(2, described);
            simulate["network"] = network;
            double over = 0;
            play(simulate, [&](Comm world, Control control) -> Task<> {
                std::vector<std::byte> out(world.rank() == 0 ? 2'000'000 : 1'000'000);
                std::vector<std::byte> in(world.rank() == 0 ? 1'000'000 : 2'000'000);
                const int other = 1 - world.rank();
                Comm::Request sent = world.isend(out, other);
                Comm::Request received = world.irecv(in, other);
                co_await world.wait(received);
                if (world.rank() == 1) over = control.now();
                co_await world.wait(sent);
            });
            const double granted = first ? 0.5e-6 + 3.1e-6 + 0.5e-6 : 1e-6 + 1e-3;
            EXPECT_NEAR(over, granted + 3.1e-6 + 1e-6 + 3.1e-6 + 2e-3 + 2e-6, 1e-9) << network << first;
        }
}

TEST(Sim, LatencyGrowsWithEveryHop) {
    const json line = on(16, round_machine(), {16});
    double before = 0;
    for (int hops = 1; hops <= 8; ++hops) {
        const double now = answer("distance", {{"distance", 2 + hops}, {"bytes", 0}}, line, "latency");
        EXPECT_NEAR(now, 6e-6 + hops * 1e-7, 1e-12);
        EXPECT_GT(now, before);
        before = now;
    }
}

// Rates ten times as high and times a tenth: everything takes a tenth.
TEST(Sim, AMachineTenTimesAsFastTakesATenth) {
    json fast = round_machine();
    fast["links"] = {{"rate", 1e10}, {"hop", 1e-8}, {"base", 3e-7}};
    fast["protocol"][0].update({{"send_overhead", 1e-7}, {"receive_overhead", 2e-7}});
    const json point{{"workers", 7}, {"shape", "flat"}, {"bytes", 4000}};
    EXPECT_NEAR(answer("hotspot", point, on(8), "latency") / answer("hotspot", point, on(8, fast), "latency"),
                10, 1e-6);
}

// Seven ranks wait for the master in one line; whoever comes first in simulated time is served first.
TEST(Sim, AnySourceTakesMessagesInTheOrderOfTime) {
    std::vector<int> order;
    play(on(4), [&](Comm world, Control control) -> Task<> {
        std::array<std::byte, 1> word{};
        if (world.rank() == 0) {
            for (int i = 0; i < 3; ++i) order.push_back(co_await world.recv_any(word));
        } else {
            co_await control.busy(1e-6 * (4 - world.rank()));
            co_await world.send(word, 0);
        }
    });
    EXPECT_EQ(order, (std::vector{3, 2, 1}));
}

// Messages with one tag keep their order; another tag is met apart, however early it was sent.
TEST(Sim, TagsAndOrderAreMatchedAsInMpi) {
    std::vector<int> got;
    play(on(2), [&](Comm world, Control) -> Task<> {
        std::array<std::byte, 1> word{};
        if (world.rank() == 0) {
            for (const int value : {1, 2, 3}) {
                word[0] = static_cast<std::byte>(value);
                co_await world.send(word, 1, value == 2 ? 9 : 5);
            }
        } else {
            for (const int tag : {9, 5, 5}) {
                co_await world.recv(word, 0, tag);
                got.push_back(static_cast<int>(word[0]));
            }
        }
    });
    EXPECT_EQ(got, (std::vector{2, 1, 3}));
}

// A copy of a communicator is another one: its messages never meet the first one's.
TEST(Sim, ADuplicateKeepsItsMessagesToItself) {
    int got = 0;
    play(on(2), [&](Comm world, Control) -> Task<> {
        Comm other = co_await world.dup();
        std::array<std::byte, 1> word{static_cast<std::byte>(1 + world.rank())};
        if (world.rank() == 0) {
            co_await world.send(word, 1);
            word[0] = std::byte{7};
            co_await other.send(word, 1);
        } else {
            co_await other.recv(word, 0);
            got = static_cast<int>(word[0]);
            co_await world.recv(word, 0);
        }
    });
    EXPECT_EQ(got, 7);
}

// Colours part, keys order: as MPI_Comm_split has it, with a negative key first.
TEST(Sim, SplitOrdersByKeyThenRank) {
    std::vector<int> ranks(6);
    std::vector<int> sizes(6);
    play(on(6), [&](Comm world, Control) -> Task<> {
        const int me = world.rank();
        Comm part = co_await world.split(me % 2, me == 4 ? -1 : 0);
        ranks[static_cast<std::size_t>(me)] = part.rank();
        sizes[static_cast<std::size_t>(me)] = part.size();
        co_await part.barrier();
    });
    EXPECT_EQ(ranks, (std::vector{1, 0, 2, 1, 0, 2}));
    EXPECT_EQ(sizes, std::vector<int>(6, 3));
}

TEST(Sim, AGridKnowsItsNeighbours) {
    std::vector<Neighbours> rows(6);
    std::vector<Neighbours> columns(6);
    play(on(6), [&](Comm world, Control) -> Task<> {
        const std::array dimensions{2, 3};
        Comm grid = co_await world.cart(dimensions, false);
        rows[static_cast<std::size_t>(grid.rank())] = grid.shift(0, 1);
        columns[static_cast<std::size_t>(grid.rank())] = grid.shift(1, 1);
    });
    EXPECT_EQ(rows[1].down, Neighbours::nobody);
    EXPECT_EQ(rows[1].up, 4);
    EXPECT_EQ(columns[4].down, 3);
    EXPECT_EQ(columns[4].up, 5);
    EXPECT_EQ(columns[5].up, Neighbours::nobody);
}

// The put must be there before the notice that follows it: 1 us + 3.1 us + 8 B there, 3.1 us back, then the
// notice's own 1 us + 3.1 us + 8 B.
TEST(Sim, ANoticeComesAfterWhatWasPut) {
    double noticed = 0;
    play(on(2), [&](Comm world, Control control) -> Task<> {
        Window window = co_await world.window(64, Exposure::allocated);
        std::array<std::byte, 8> word{};
        if (world.rank() == 0) {
            co_await window.put(word, 1, 0);
            co_await window.notify(1);
        } else {
            co_await window.notified(1);
            noticed = control.now();
        }
        co_await window.free();
    });
    EXPECT_NEAR(noticed, 1e-6 + 3.108e-6 + 3.1e-6 + 1e-6 + 3.108e-6, 1e-12);
}

TEST(Sim, WaitAnyTakesTheEarliest) {
    int first = -1;
    play(on(3), [&](Comm world, Control control) -> Task<> {
        if (world.rank() == 0) {
            std::array requests{world.irecv({}, 1), world.irecv({}, 2)};
            first = co_await world.wait_any(requests);
            co_await world.wait_all(requests);
        } else {
            co_await control.busy(world.rank() == 1 ? 1e-3 : 0);
            co_await world.send({}, 0);
        }
    });
    EXPECT_EQ(first, 1);
}

TEST(Sim, TestSaysNoUntilTheMessageIsThere) {
    int asked = 0;
    double seen = 0;
    play(on(2), [&](Comm world, Control control) -> Task<> {
        if (world.rank() == 0) {
            Comm::Request request = world.irecv({}, 1);
            while (!co_await world.test(request)) ++asked;
            seen = control.now();
        } else {
            co_await control.busy(5e-8);
            co_await world.send({}, 0);
        }
    });
    EXPECT_EQ(asked, 41);  // the message is there at 4.15 us, and asking takes 0.1 us
    EXPECT_NEAR(seen, 4.2e-6 + 2e-6, 1e-12);
}

// ------------------------------------------------------------------------------------------- what never ends

std::string deadlock(int ranks, Task<> (*program)(Comm, Control)) {
    try {
        play(on(ranks), program);
    } catch (const machine::Deadlock& found) {
        return found.what();
    }
    return "none";
}

TEST(Deadlock, SaysWhoWaitsForWhom) {
    const auto said = deadlock(2, [](Comm world, Control) -> Task<> {
        co_await world.recv({}, 1 - world.rank(), 3);
        co_await world.send({}, 1 - world.rank(), 3);
    });
    EXPECT_EQ(
        said,
        "deadlock: rank 0 waits for a message from rank 1 with tag 3, rank 1 waits for a message from rank 0 "
        "with tag 3");
}

TEST(Deadlock, SaysThatARankHasEnded) {
    const auto said = deadlock(2, [](Comm world, Control) -> Task<> {
        if (world.rank() == 0) co_await world.recv({}, 1);
    });
    EXPECT_EQ(said, "deadlock: rank 0 waits for a message from rank 1 with tag 0, which has ended");
}

TEST(Deadlock, ARankMissingFromABarrierIsOne) {
    const auto said = deadlock(3, [](Comm world, Control) -> Task<> {
        if (world.rank() != 1) co_await world.barrier();
    });
    EXPECT_EQ(said, "deadlock: rank 0 waits in a barrier, rank 2 waits in a barrier");
}

// ------------------------------------------------------------------------------------------- many

// A fan-in of all to one and receives that nobody meets must not cost more the more there are of them.
TEST(Sim, ALongLineOfMessagesIsMetInAnyOrder) {
    constexpr int many = 20'000;
    std::int64_t sum = 0;
    play(on(many), [&](Comm world, Control) -> Task<> {
        std::array<std::byte, 4> word{};
        const int me = world.rank();
        if (me > 0) {
            std::memcpy(word.data(), &me, sizeof me);
            co_await world.send(word, 0, me);
            co_return;
        }
        co_await world.recv(word, 1, 1);
        for (int from = many - 1; from > 1; --from) {
            int got = 0;
            co_await world.recv(word, from, from);
            std::memcpy(&got, word.data(), sizeof got);
            sum += got;
        }
    });
    EXPECT_EQ(sum, std::int64_t{many} * (many - 1) / 2 - 1);
}

// The same program, machine and seed: the same times to the bit, and with noise another seed gives others.
TEST(Sim, ARunIsAFunctionOfItsSeed) {
    json described = round_machine();
    described["noise"] = {{"interval", 1e-5}, {"detour", 1e-6}};
    const auto run = [&](int seed) {
        json simulate = on(8, described);
        simulate["noise"] = true;
        simulate["seed"] = seed;
        return ask(json::array({question("hotspot", {{"workers", 7}, {"shape", "flat"}, {"bytes", 8}})}),
                   simulate)
            .at(2)
            .at("samples")
            .get<std::vector<double>>();
    };
    EXPECT_EQ(run(1), run(1));
    EXPECT_NE(run(1), run(2));
    EXPECT_GT(run(1).size(), 1U);
}

// Of each 100 us of a core 10 us are detours, so that a second of computation takes 1/(1 - 0.1) s. It takes
// no longer where two ranks do it in turns of 10 ms: what comes while one waits is over when its turn begins.
TEST(Sim, DetoursOfARankThatWaitsAreOverWhenItGoesOn) {
    json described = round_machine();
    described["noise"] = {{"interval", 1e-4}, {"detour", 1e-5}};
    json simulate = on(2, described);
    simulate["noise"] = true;
    double whole = 0;
    play(simulate, [&](Comm world, Control control) -> Task<> {
        for (int turn = 0; turn < 100; ++turn) {
            if (turn % 2 == world.rank()) {
                co_await control.busy(1e-2);
                co_await world.send({}, 1 - world.rank());
            } else {
                co_await world.recv({}, 1 - world.rank());
            }
        }
        whole = std::max(whole, control.now());
    });
    // Ten thousand detours of random length and distance: their sum is 1.4 % off at one standard deviation.
    EXPECT_NEAR(whole, 1 / 0.9, 0.005);
}

// A collective that is begun and waited for at once is the same work of the same core as a blocking one, so
// that as much of it is detours.
TEST(Sim, DetoursComeInNonblockingCollectivesToo) {
    json described = round_machine();
    described["noise"] = {{"interval", 2e-5}, {"detour", 1e-5}};
    std::array<double, 2> whole{};
    for (int seed = 1; seed <= 8; ++seed)
        for (const bool begun : {false, true}) {
            json simulate = on(16, described);
            simulate["noise"] = true;
            simulate["seed"] = seed;
            double last = 0;
            play(simulate, [&](Comm world, Control control) -> Task<> {
                std::vector<std::byte> data(64);
                const Call call{.what = Collective::allreduce, .out = data, .in = data};
                for (int turn = 0; turn < 100; ++turn) {
                    if (begun) {
                        Comm::Prepared prepared = co_await world.prepare(call, Form::nonblocking);
                        co_await prepared.begin();
                        co_await prepared.end();
                    } else {
                        co_await world.collective(call);
                    }
                }
                last = std::max(last, control.now());
            });
            whole.at(begun ? 1 : 0) += last;
        }
    EXPECT_NEAR(whole[1], whole[0], 0.05 * whole[0]);
}

}  // namespace
}  // namespace leadline
