// Programs that are wrong: each ends with an error of its kind that names the ranks and what they called.
#include <tuple>

#include <gtest/gtest.h>

#include "comm/sim/call_order.hpp"
#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;
using machine::Livelock;
using machine::Truncation;
using machine::Unfinished;
using sim::Mismatch;

// What an error of this kind says of a program; fails where it is another kind, or none.
template <class Error>
std::string said(const json& simulate, const Body& body) {
    try {
        ends(simulate, body);
        ADD_FAILURE() << "the program ended as if nothing were wrong";
    } catch (const Error& error) {
        return error.what();
    } catch (const std::exception& other) {
        ADD_FAILURE() << "another error: " << other.what();
    }
    return "";
}

template <class Error>
void expect(const Body& body, const std::vector<std::string>& named, int ranks = 4) {
    for (const auto& tier : tiers()) {
        json simulate = on(ranks);
        simulate["network"] = tier;
        const std::string text = said<Error>(simulate, body);
        for (const auto& each : named)
            EXPECT_NE(text.find(each), std::string::npos) << each << " in: " << text;
    }
}

// ------------------------------------------------------------------------------------------- different calls

// Rank 2 calls one thing, everybody else another one.
void differ(const Body& one, const Body& other, const std::vector<std::string>& named) {
    expect<Mismatch>(
        [&](Comm& world, Control& control) -> Task<> {
            co_await control.busy(1e-6 * world.rank());
            if (world.rank() == 2) co_await one(world, control);
            else co_await other(world, control);
        },
        named);
}

Body calls(Call call) {
    return [call](Comm& world, Control&) -> Task<> { co_await world.collective(call); };
}

Body begins(Call call, Form form) {
    return [call, form](Comm& world, Control&) -> Task<> {
        Comm::Prepared prepared = co_await world.prepare(call, form);
        co_await prepared.begin();
        co_await prepared.end();
    };
}

TEST(Mismatch, IsAnErrorThatNamesRanksAndCalls) {
    std::vector<std::byte> memory(1U << 20U);
    const Bytes few = Bytes(memory).first(8);
    const Bytes many(memory);
    const Call barrier{.what = Collective::barrier};
    const Call reduced{.what = Collective::allreduce, .out = few, .in = few};
    Call product = reduced;
    product.reduce = Reduce::product;
    Call whole = reduced;
    whole.type = Type::int64;
    const auto bcast = [](Bytes data, int root) {
        return Call{.what = Collective::bcast, .in = data, .root = root};
    };
    differ(calls(barrier), calls(reduced), {"rank 2 called barrier", "rank 0 called allreduce of 8 B"});
    differ(calls(bcast(few, 1)), calls(bcast(few, 0)), {"rank 2 called bcast of 8 B, root 1", "root 0"});
    differ(calls(bcast(many, 0)), calls(bcast(few, 0)), {"bcast of 1048576 B", "bcast of 8 B"});
    differ(calls(product), calls(reduced), {"product of float64", "sum of float64"});
    differ(calls(whole), calls(reduced), {"sum of int64", "sum of float64"});
    differ(begins(barrier, Form::nonblocking), calls(barrier), {"called nonblocking barrier"});
    differ(begins(barrier, Form::nonblocking), begins(reduced, Form::nonblocking),
           {"called nonblocking barrier", "called nonblocking allreduce of 8 B"});
    // In begun order: the first of two is not the second one's.
    differ(
        [=](Comm& world, Control&) -> Task<> {
            Comm::Prepared first = co_await world.prepare(barrier, Form::persistent);
            Comm::Prepared second = co_await world.prepare(reduced, Form::persistent);
            co_await second.begin();
            co_await first.begin();
            co_await first.end();
            co_await second.end();
        },
        [=](Comm& world, Control&) -> Task<> {
            Comm::Prepared first = co_await world.prepare(barrier, Form::persistent);
            Comm::Prepared second = co_await world.prepare(reduced, Form::persistent);
            co_await first.begin();
            co_await second.begin();
            co_await first.end();
            co_await second.end();
        },
        {"rank 2 called persistent allreduce", "rank 0 called persistent barrier"});
}

TEST(Mismatch, MakingACommunicatorIsACallOfAll) {
    const Body splits = [](Comm& world, Control&) -> Task<> {
        std::ignore = co_await world.split(world.rank() % 2, 0);
    };
    const Body copies = [](Comm& world, Control&) -> Task<> { std::ignore = co_await world.dup(); };
    const Body barrier = calls({.what = Collective::barrier});
    const auto grid = [](std::array<int, 2> lengths) {
        return
            [lengths](Comm& world, Control&) -> Task<> { std::ignore = co_await world.cart(lengths, true); };
    };
    const Body window = [](Comm& world, Control&) -> Task<> {
        Window made = co_await world.window(64, Exposure::allocated);
        co_await made.free();
    };
    differ(splits, barrier, {"rank 2 called split", "rank 0 called barrier"});
    differ(copies, barrier, {"rank 2 called dup", "rank 0 called barrier"});
    differ(copies, splits, {"rank 2 called dup", "rank 0 called split"});
    differ(grid({2, 2}), grid({4, 1}), {"cart of 2x2", "cart of 4x1"});
    differ(window, barrier, {"called window", "called barrier"});
    differ([](Comm&, Control& control) -> Task<> { co_await control.align(); }, barrier,
           {"rank 2 called an aligned start", "rank 0 called barrier"});
    // Which ranks: those of the world, whatever they are in the part.
    expect<Mismatch>(
        [&](Comm& world, Control& control) -> Task<> {
            Comm part = co_await world.split(world.rank() / 2, -world.rank());
            if (world.rank() == 3) std::ignore = co_await part.dup();
            else co_await barrier(part, control);
        },
        {"rank 3 called dup", "rank 2 called barrier", "a communicator of 2"});
}

// Blocks of a gather may differ where the root says so, and then they are what it says.
TEST(Mismatch, BlocksAreWhatTheRootSays) {
    const auto gathers = [](const std::vector<Part>& parts, std::size_t at_two, Collective what) {
        return [=](Comm& world, Control&) -> Task<> {
            std::vector<std::byte> memory(64);
            const std::size_t mine = world.rank() == 2 ? at_two : 8;
            const Layout laid = world.rank() == 1 ? Layout(parts) : Layout();
            const Bytes own = Bytes(memory).first(mine);
            if (what == Collective::gather)
                co_await world.collective({.what = what,
                                           .out = own,
                                           .in = memory,
                                           .root = 1,
                                           .takes = laid,
                                           .varies = !parts.empty()});
            else
                co_await world.collective({.what = what,
                                           .out = memory,
                                           .in = own,
                                           .root = 1,
                                           .gives = laid,
                                           .varies = !parts.empty()});
        };
    };
    const std::vector<Part> parts{{0, 8, 0}, {1, 8, 8}, {2, 24, 16}, {3, 8, 40}};
    for (const Collective what : {Collective::gather, Collective::scatter}) {
        EXPECT_NO_THROW(ends(on(4), gathers(parts, 24, what)));
        EXPECT_NO_THROW(ends(on(4), gathers({}, 8, what)));
        expect<Mismatch>(gathers({}, 24, what), {"rank 2 called", "24 B", "8 B"});
        expect<Mismatch>(gathers(parts, 32, what), {"rank 2 called", "32 B", "24 B"});
    }
}

// Of an allgather and a reduce_scatter every rank says all blocks.
TEST(Mismatch, BlocksOfAllAreWhatEveryRankSays) {
    const auto gathers = [](std::int64_t at_two) {
        return [=](Comm& world, Control&) -> Task<> {
            std::vector<std::byte> memory(64);
            const std::int64_t last = world.rank() == 2 ? at_two : 8;
            const std::vector<Part> parts{{0, 8, 0}, {1, 24, 8}, {3, last, 32}};
            const Bytes own = Bytes(memory).first(world.rank() == 1 ? 24 : world.rank() == 2 ? 0 : 8);
            const Call call{.what = Collective::allgather, .out = own, .in = memory, .takes = parts};
            co_await world.collective(call);
        };
    };
    EXPECT_NO_THROW(ends(on(4), gathers(8)));
    expect<Mismatch>(gathers(16), {"rank 2 called", "rank 0"});
}

// Blocks that go from rank to rank are of the size that both say.
TEST(Mismatch, BlocksOfANeighbourhoodAreOfOneSize) {
    expect<Truncation>(
        [](Comm& world, Control&) -> Task<> {
            const std::array lengths{4};
            Comm ring = co_await world.cart(lengths, true);
            std::vector<std::byte> memory(64);
            const Bytes block = Bytes(memory).first(world.rank() == 2 ? 16 : 8);
            co_await ring.collective({.what = Collective::neighbor_allgather,
                                      .out = block,
                                      .in = Bytes(memory).first(2 * block.size())});
        },
        {"of a collective", "8 B"});
}

// ------------------------------------------------------------------------------------------- left behind

TEST(Unfinished, WhatNobodyReceivedIsNamed) {
    const Body sends = [](Comm& world, Control&) -> Task<> {
        std::array<std::byte, 8> word{};
        if (world.rank() == 0) co_await world.send(word, 1, 7);
    };
    expect<Unfinished>(sends, {"rank 0 sent 8 B with tag 7 to rank 1", "never received"});
    const Body many = [](Comm& world, Control&) -> Task<> {
        std::array<std::byte, 8> word{};
        for (int i = 0; i < 5; ++i)
            if (world.rank() > 0) co_await world.send(word, 0, i);
        for (int i = 0; i < 5 && world.rank() == 0; ++i) co_await world.recv(word, 1, i);
    };
    expect<Unfinished>(many, {"10 messages", "rank 2 sent 8 B with tag 0 to rank 0"});
}

TEST(Unfinished, WhatNobodyWaitedForIsNamed) {
    expect<Unfinished>(
        [](Comm& world, Control&) -> Task<> {
            if (world.rank() == 0) world.irecv({}, 1, 3);
            co_return;
        },
        {"rank 0 expects one from rank 1 with tag 3", "met by no message"});
    expect<Unfinished>(
        [](Comm& world, Control&) -> Task<> {
            if (world.rank() == 0) world.irecv({}, 1, 3);
            if (world.rank() == 1) co_await world.send({}, 0, 3);
        },
        {"rank 0 for a message from rank 1 with tag 3", "never waited for"});
    expect<Unfinished>(
        [](Comm& world, Control&) -> Task<> {
            if (world.rank() == 0) world.isend({}, 1, 3);
            if (world.rank() == 1) co_await world.recv({}, 0, 3);
        },
        {"rank 0 for its send to rank 1 with tag 3", "never waited for"});
    expect<Unfinished>(
        [](Comm& world, Control&) -> Task<> {
            Comm::Prepared prepared =
                co_await world.prepare({.what = Collective::barrier}, Form::nonblocking);
            co_await prepared.begin();
            if (world.rank() != 2) co_await prepared.end();
        },
        {"rank 2 for a collective that it has begun"});
}

// The one who waits is told what is there instead.
TEST(Unfinished, AWrongTagIsADeadlockThatSaysWhatCame) {
    expect<machine::Deadlock>(
        [](Comm& world, Control&) -> Task<> {
            if (world.rank() == 0) co_await world.send({}, 1, 4);
            if (world.rank() == 1) co_await world.recv({}, 0, 5);
        },
        {"rank 1 waits for a message from rank 0 with tag 5", "with tag 4"});
}

// One-sided transfers end with their window, as in MPI.
TEST(Unfinished, AWindowThatIsFreedEndsWhatIsUnderWay) {
    double freed = 0;
    EXPECT_NO_THROW(ends(on(2), [&](Comm& world, Control& control) -> Task<> {
        Window window = co_await world.window(64, Exposure::allocated);
        std::array<std::byte, 8> word{};
        if (world.rank() == 0) co_await window.put(word, 1, 0);
        co_await window.free();
        if (world.rank() == 0) freed = control.now();
    }));
    EXPECT_NEAR(freed, 1e-6 + 3.108e-6 + 3.1e-6, 1e-12);
}

TEST(Truncation, IsAnErrorThatNamesBothEnds) {
    for (const bool early : {true, false})
        for (const bool asks : {true, false}) {
            json described = round_machine();
            described["protocol"][0]["handshake"] = asks;
            const std::string text =
                said<Truncation>(on(2, described), [=](Comm& world, Control& control) -> Task<> {
                    std::vector<std::byte> data(1U << 20U);
                    co_await control.busy(world.rank() == (early ? 0 : 1) ? 1e-2 : 0);
                    if (world.rank() == 0) co_await world.send(data, 1, 6);
                    else co_await world.recv(Bytes(data).first(8), 0, 6);
                });
            for (const std::string each : {"rank 0", "rank 1", "1048576 B", "8 B", "tag 6"})
                EXPECT_NE(text.find(each), std::string::npos) << text;
        }
}

// ------------------------------------------------------------------------------------------- never-ending

TEST(Livelock, AnEndlessLoopOfTestsIsEnded) {
    expect<Livelock>(
        [](Comm& world, Control&) -> Task<> {
            if (world.rank() != 0) co_return;
            Comm::Request request = world.irecv({}, 1, 3);
            while (!co_await world.test(request)) continue;
        },
        {"rank 0", "a message from rank 1 with tag 3"}, 2);
}

// A loop that gives up, and one that waits long for what is under way, are none.
TEST(Livelock, APatientProgramIsNone) {
    int asked = 0;
    json slow = round_machine();
    slow["links"]["rate"] = 1e6;
    slow["node"]["poll"] = 1e-8;
    ends(on(2, slow), [&](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(20'000);
        Comm::Request request = world.rank() == 0 ? world.irecv(data, 1, 3) : Comm::Request{};
        if (world.rank() == 0) {
            for (int i = 0; i < 500'000; ++i) co_await world.test(request);
            co_await world.send({}, 1);
            while (!co_await world.test(request)) ++asked;
        } else {
            co_await world.recv({}, 0);
            co_await world.send(data, 0, 3);
        }
    });
    EXPECT_GT(asked, 1'900'000);
}

// ------------------------------------------------------------------------------------------- again and again

TEST(Repeated, WhatIsBegunAgainIsAsLongAsBefore) {
    ends(on(2), [](Comm& world, Control&) -> Task<> {
        std::array<std::byte, 8> out{};
        std::array<std::byte, 8> in{};
        const std::array sends{PersistentMessage{out, 1 - world.rank(), 0}};
        const std::array receives{PersistentMessage{in, 1 - world.rank(), 0}};
        Comm::Exchange exchange = world.prepare_exchange(sends, receives);
        Comm::Prepared barrier = co_await world.prepare({.what = Collective::barrier}, Form::persistent);
        for (int i = 0; i < 100; ++i) {
            co_await exchange.begin();
            EXPECT_EQ(exchange.end().operations.size(), 2U);
            co_await exchange.end();
            co_await barrier.begin();
            EXPECT_EQ(barrier.end().all().operations.size(), 1U);
            while (!co_await barrier.test()) continue;
        }
        co_await exchange.free();
        co_await barrier.free();
    });
}

TEST(Repeated, WhatIsUnderWayIsNotBegunAgain) {
    EXPECT_THROW(ends(on(2),
                      [](Comm& world, Control&) -> Task<> {
                          Comm::Prepared barrier =
                              co_await world.prepare({.what = Collective::barrier}, Form::persistent);
                          co_await barrier.begin();
                          co_await barrier.begin();
                      }),
                 std::logic_error);
}

// ------------------------------------------------------------------------------------------- order

// Rank 2's first message is handed over at an instant for which it was foreseen, its second at the same
// instant, after what rank 0 sent has come: on a machine without overheads, to one receiver, with one tag.
TEST(Order, MessagesOfOneInstantKeepTheOrderOfTheProgram) {
    json described = round_machine();
    described["protocol"][0] = {{"name", "eager"}};
    described["links"].erase("rate");
    for (const auto& each : {described, two_ranks(described)})
        for (const auto& tier : tiers()) {
            std::vector<int> order;
            json simulate = every_placement(each, {{"kind", "torus"}, {"shape", {4}}}, tier);
            // As long as a message takes from rank 0 to rank 2.
            double takes = 0;
            ends(simulate, [&](Comm& world, Control& control) -> Task<> {
                if (world.rank() == 0) co_await world.send({}, 2);
                if (world.rank() == 2) co_await world.recv({}, 0);
                if (world.rank() == 2) takes = control.now();
            });
            ends(simulate, [&](Comm& world, Control& control) -> Task<> {
                std::array<std::byte, 1> word{std::byte{1}};
                std::array<std::byte, 1> other{std::byte{2}};
                if (world.rank() == 0) {
                    co_await world.send({}, 2);
                } else if (world.rank() == 2) {
                    co_await control.busy(takes);
                    Comm::Request first = world.isend(word, 1, 5);
                    co_await world.recv({}, 0);
                    co_await world.send(other, 1, 5);
                    co_await world.wait(first);
                } else if (world.rank() == 1) {
                    for (int i = 0; i < 2; ++i) {
                        co_await world.recv(word, 2, 5);
                        order.push_back(static_cast<int>(word[0]));
                    }
                }
            });
            EXPECT_EQ(order, (std::vector{1, 2})) << tier << ' ' << each;
        }
}

}  // namespace
}  // namespace leadline
