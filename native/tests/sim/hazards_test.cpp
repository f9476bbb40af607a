// What could go wrong between ranks that run ahead, share scratch and throw: each test found or guards a
// fault.
#include <gtest/gtest.h>

#include <numeric>

#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// Ranks of an early part make communicators of their own before the others have read theirs: of nine ranks,
// each alone, the first copies its one before the second has gone on.
TEST(Hazard, AQuickPartMakesItsOwnCommunicatorsFirst) {
    std::vector<int> sizes(9);
    std::vector<int> last(9);
    play(on(9), [&](Comm world, Control) -> Task<> {
        const auto me = static_cast<std::size_t>(world.rank());
        Comm row = co_await world.split(world.rank() / 3, 0);
        Comm alone = co_await row.split(row.rank(), 0);
        Comm copy = co_await alone.dup();
        Comm again = co_await row.dup();
        sizes[me] = row.size() * 100 + alone.size() * 10 + copy.size();
        last[me] = again.rank();
    });
    EXPECT_EQ(sizes, std::vector<int>(9, 311));
    EXPECT_EQ(last, (std::vector{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

// The same with windows: rows of two, each with its own, and then one of each rank alone. A notice must reach
// the rank of the row that is meant.
TEST(Hazard, WindowsOfPartsAreApart) {
    std::vector<int> noticed(6);
    play(on(6), [&](Comm world, Control) -> Task<> {
        Comm row = co_await world.split(world.rank() / 2, 0);
        Comm alone = co_await row.split(row.rank(), 0);
        Window first = co_await row.window(64, Exposure::allocated);
        Window second = co_await alone.window(64, Exposure::allocated);
        Window third = co_await world.window(64, Exposure::allocated);
        Window fourth = co_await alone.window(64, Exposure::allocated);
        if (row.rank() == 0) {
            co_await first.notify(1);
            co_await first.notify(1);
        } else {
            co_await first.notified(2);
            noticed[static_cast<std::size_t>(world.rank())] = 2;
        }
        co_await second.notify(0);
        co_await second.notified(1);
        co_await third.notify((world.rank() + 1) % 6);
        co_await third.notified(1);
        co_await fourth.free();
    });
    EXPECT_EQ(noticed, (std::vector{0, 2, 0, 2, 0, 2}));
}

std::string thrown(const json& simulate, Task<> (*program)(Comm, Control)) {
    try {
        play(simulate, program);
    } catch (const machine::Deadlock& found) {
        return found.what();
    } catch (const Unsupported& found) {
        return std::string("unsupported: ") + found.what();
    }
    return "none";
}

// What the last rank to come finds wrong is told as it is, and not as ranks that wait for one another.
TEST(Hazard, ACollectiveThatCannotBeSaysSo) {
    json described = round_machine();
    described["collective"] = {{{"operation", "barrier"}, {"algorithm", "magic"}}};
    EXPECT_EQ(thrown(on(3, described), [](Comm world, Control) -> Task<> { co_await world.barrier(); }),
              "unsupported: there is no algorithm 'magic' for barrier");
}

// The same from within a part of the program.
TEST(Hazard, ACollectiveThatCannotBeSaysSoFromWithin) {
    json described = round_machine();
    described["collective"] = {{{"operation", "barrier"}, {"algorithm", "magic"}}};
    EXPECT_EQ(thrown(on(2, described),
                     [](Comm world, Control) -> Task<> {
                         const auto part = [](Comm& inner) -> Task<> { co_await inner.barrier(); };
                         co_await part(world);
                     }),
              "unsupported: there is no algorithm 'magic' for barrier");
}

// A point that cannot be is skipped with its reason, and the next one is answered.
TEST(Hazard, AnUnsupportedPointIsSkippedAndTheNextAnswered) {
    json described = round_machine();
    described["collective"] = {{{"operation", "barrier"}, {"algorithm", "magic"}, {"up_to", 0}}};
    const auto lines = ask(json::array({question("barrier", {{"communicator", "world"}}),
                                        question("pingpong", {{"bytes", 8}, {"buffers", "reused"}})}),
                           on(2, described));
    std::vector<std::string> events;
    events.reserve(lines.size());
    for (const auto& line : lines) events.push_back(line.at("event"));
    EXPECT_EQ(events,
              (std::vector<std::string>{"launch", "begin", "skip", "end", "begin", "record", "end", "done"}));
}

// A message to oneself: at once where nothing is in between, and a blocking rendezvous is a deadlock.
TEST(Hazard, ARankMayWriteToItself) {
    int got = 0;
    for (const bool by_network : {false, true}) {
        json described = round_machine();
        described["node"]["local_by_network"] = by_network;
        play(on(2, described), [&](Comm world, Control) -> Task<> {
            std::array<std::byte, 1> out{std::byte{5}};
            std::array<std::byte, 1> in{};
            co_await world.sendrecv(out, world.rank(), in, world.rank());
            got += static_cast<int>(in[0]);
            Window window = co_await world.window(64, Exposure::allocated);
            co_await window.put(out, world.rank(), 0);
            co_await window.get(out, world.rank(), 0);
            co_await window.notify(world.rank());
            co_await window.notified(1);
        });
    }
    EXPECT_EQ(got, 20);
    json described = round_machine();
    described["protocol"][0].update({{"handshake", true}});
    EXPECT_EQ(thrown(on(1, described), [](Comm world, Control) -> Task<> { co_await world.send({}, 0, 4); }),
              "deadlock: rank 0 waits for its send to rank 0 with tag 4");
}

// Whether a receive is posted before or after its message came, and however far its rank has run ahead, the
// same messages meet: the match of first-come lines is one.
TEST(Hazard, RunningAheadDoesNotChangeWhoMeetsWhom) {
    std::vector<int> seen;
    for (const double late : {0.0, 3e-6, 50e-6}) {
        std::vector<int> order;
        play(on(4), [&](Comm world, Control control) -> Task<> {
            std::array<std::byte, 1> word{static_cast<std::byte>(world.rank())};
            if (world.rank() > 0) {
                co_await control.busy(1e-6 * (4 - world.rank()));
                co_await world.send(word, 0);
                co_return;
            }
            std::array<std::array<std::byte, 1>, 3> words{};
            co_await control.busy(late);
            Comm::Request first = world.irecv(words[0], 2);
            order.push_back(co_await world.recv_any(words[1]));
            order.push_back(co_await world.recv_any(words[2]));
            co_await world.wait(first);
            for (const auto& each : words) order.push_back(static_cast<int>(each[0]));
        });
        EXPECT_EQ(order, (std::vector{3, 1, 2, 3, 1}));
    }
}

// wait_any of a rank far ahead takes what was over first, and the rest stays to be waited for.
TEST(Hazard, WaitAnyTakesEachOnceInTheOrderOfTime) {
    for (const double ahead : {0.0, 1e-3}) {
        std::vector<int> order;
        play(on(5), [&](Comm world, Control control) -> Task<> {
            if (world.rank() > 0) {
                co_await control.busy(1e-5 * (world.rank() ^ 1));
                co_await world.send({}, 0);
                co_return;
            }
            std::vector<Comm::Request> requests;
            for (int from = 1; from < 5; ++from) requests.push_back(world.irecv({}, from));
            co_await control.busy(ahead);
            for (int i = 0; i < 5; ++i) order.push_back(co_await world.wait_any(requests));
        });
        EXPECT_EQ(order, ahead == 0 ? (std::vector{0, 2, 1, 3, -1}) : order);
        std::ranges::sort(order);
        EXPECT_EQ(order, (std::vector{-1, 0, 1, 2, 3}));
    }
}

// Two messages that come at one instant wake a rank once.
TEST(Hazard, SeveralThingsAtOneInstantWakeOnce) {
    int woken = 0;
    play(on(3, round_machine(), {3}), [&](Comm world, Control) -> Task<> {
        if (world.rank() > 0) {
            for (int i = 0; i < 3; ++i) co_await world.send({}, 0, i);
            co_return;
        }
        for (int i = 0; i < 3; ++i) {
            std::array requests{world.irecv({}, 1, i), world.irecv({}, 2, i)};
            co_await world.wait_any(requests);
            co_await world.wait_any(requests);
            ++woken;
        }
    });
    EXPECT_EQ(woken, 3);
}

// Bytes put into a neighbour's memory are copied by somebody: by the core that puts them, once.
TEST(Hazard, APutWithinANodeCopiesItsBytes) {
    json described = round_machine();
    described["node"].update({{"cores", 2}, {"ranks", 2}, {"local_latency", 5e-7}});
    described["local_protocol"] = {
        {{"name", "copied"}, {"send_overhead", 1e-6}, {"send_copy", 1e9}, {"receive_copy", 2e9}}};
    json simulate = on(2, described);
    simulate["mapping"] = "TX";
    for (const bool put : {true, false}) {
        double flushed = 0;
        play(simulate, [&](Comm world, Control control) -> Task<> {
            std::vector<std::byte> data(1'000'000);
            Window window = co_await world.window(data.size(), Exposure::allocated);
            if (world.rank() == 1) co_return;
            if (put) co_await window.put(data, 1, 0);
            else co_await window.get(data, 1, 0);
            co_await window.flush(1);
            flushed = control.now();
        });
        EXPECT_NEAR(flushed, 1e-6 + 1e-3 + 2 * 5e-7, 1e-12);
    }
}

// Asking costs nothing where a description says so: the time in between must pass all the same.
TEST(Hazard, AskingForNothingIsRefused) {
    json described = round_machine();
    described["node"]["poll"] = 0;
    EXPECT_THROW(play(on(2, described), [](Comm, Control) -> Task<> { co_return; }), std::invalid_argument);
}

}  // namespace
}  // namespace leadline
