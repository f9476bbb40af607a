// Machines whose gap and copies are those of the LogGOPS model: times that papers print, and the model's
// rules worked out by hand.
#include <gtest/gtest.h>

#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// Parameters in microseconds, and microseconds a byte.
json model(double latency, double overhead, double gap, double per_byte = 0, double copy = 0) {
    json described = round_machine();
    described["links"] = {{"base", latency * 1e-6}};
    if (per_byte > 0) described["links"]["rate"] = 1e6 / per_byte;
    described["node"].update({{"loggops", true}, {"message_gap", gap * 1e-6}});
    described["protocol"][0].update(
        {{"send_overhead", overhead * 1e-6}, {"receive_overhead", overhead * 1e-6}});
    if (copy > 0) described["protocol"][0].update({{"send_copy", 1e6 / copy}, {"receive_copy", 1e6 / copy}});
    return described;
}

// In microseconds.
std::vector<double> times(const json& described, int ranks, const Body& body) {
    std::vector<double> all = ends(on(ranks, described), body);
    for (double& each : all) each = std::round(each * 1e12) / 1e6;
    return all;
}

// The optimal broadcast of Culler and others, LogP: Towards a Realistic Model of Parallel Computation (1993),
// figure 3: P = 8, L = 6, g = 4, o = 2. The last has it at 24.
TEST(LogGops, TheBroadcastOfTheLogPPaperEndsWhenItSays) {
    const std::vector<std::vector<int>> children{{1, 2, 3, 4}, {5, 6}, {7}, {}, {}, {}, {}, {}};
    std::vector<double> has(8);
    ends(on(8, model(6, 2, 4)), [&](Comm& world, Control& control) -> Task<> {
        std::array<std::byte, 1> word{};
        const auto me = static_cast<std::size_t>(world.rank());
        if (me > 0) co_await world.recv_any(word);
        has[me] = std::round(control.now() * 1e12) / 1e6;
        for (const int child : children[me]) co_await world.send(word, child);
    });
    EXPECT_EQ(has, (std::vector<double>{0, 10, 14, 18, 22, 20, 24, 24}));
}

// The optimal sum of the same paper, figure 4: T = 28, P = 8, L = 5, g = 4, o = 2. A rank that ends at t adds
// what it has between what it receives, an addition a microsecond.
TEST(LogGops, TheSumOfTheLogPPaperEndsWhenItSays) {
    const std::vector<std::vector<int>> children{{4, 3, 2, 1}, {6, 5}, {7}, {}, {}, {}, {}, {}};
    const std::vector<int> until{28, 18, 14, 10, 6, 8, 4, 4};
    const std::vector<int> parent{-1, 0, 0, 0, 0, 1, 1, 2};
    int added = 0;
    const auto all = times(model(5, 2, 4), 8, [&](Comm& world, Control& control) -> Task<> {
        std::array<std::byte, 1> word{};
        const auto me = static_cast<std::size_t>(world.rank());
        // Before the first, and between two, there is as much time as g or T leave.
        const int receives = static_cast<int>(children[me].size());
        const int first = until[me] - (receives > 0 ? 3 + 4 * (receives - 1) : 0);
        co_await control.busy(1e-6 * first);
        added += first;
        for (int i = 0; i < receives; ++i) {
            co_await world.recv(word, children[me][static_cast<std::size_t>(i)]);
            co_await control.busy(i + 1 < receives ? 2e-6 : 1e-6);
            added += i + 1 < receives ? 2 : 1;
        }
        if (parent[me] >= 0) co_await world.send(word, parent[me]);
    });
    EXPECT_EQ(all[0], 28);
    EXPECT_EQ(added + 1, 79);  // values, one more than all additions
}

// L = 10, o = 2, g = 5, G = 0.01, O = 0.004 or 0.03; 101 bytes.
TEST(LogGops, CopiesRunBesideTheWire) {
    for (const double copy : {0.004, 0.03}) {
        double back = 0;
        const auto all = times(model(10, 2, 5, 0.01, copy), 2, [&](Comm& world, Control& control) -> Task<> {
            std::vector<std::byte> data(101);
            if (world.rank() == 0) {
                co_await world.send(data, 1);
                back = std::round(control.now() * 1e12) / 1e6;
                co_await world.send(data, 1);
            } else {
                co_await world.recv(data, 0);
                co_await control.busy(100e-6);
                co_await world.recv(data, 0);
            }
        });
        const double busy = 100 * std::max(0.01, copy);
        EXPECT_DOUBLE_EQ(back, 2 + 100 * copy);
        // The second begins when g + 100 G are over, or the core is.
        EXPECT_DOUBLE_EQ(all[0], std::max(6.0, back) + back);
        // Whatever has waited for its receiver is taken up like any other.
        EXPECT_NEAR(all[1], 2 + 10 + 2 + busy + 100 + 2 + busy, 1e-9);
    }
}

// Seven at once: each is taken up g + 100 G after the one before, whoever sent it, and none waits elsewhere.
TEST(LogGops, AReceiverTakesAMessageEachGap) {
    const auto all = times(model(10, 2, 5, 0.01), 8, [](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(101);
        if (world.rank() > 0) co_await world.send(data, 0);
        for (int i = 1; i < 8 && world.rank() == 0; ++i) co_await world.recv_any(data);
    });
    EXPECT_DOUBLE_EQ(all[0], 12 + 6 * 6 + 2 + 1);
    EXPECT_DOUBLE_EQ(all[1], 2);
}

// L = 6, o = 2, g = 9. Each sends at 0, and could again at 9, but takes up the other's message at 8; so it
// sends at 10, and takes up the second from 18 to 20.
TEST(LogGops, ACoreTakesAMessageUpWhileItWaitsForTheGap) {
    const auto all = times(model(6, 2, 9), 2, [](Comm& world, Control& control) -> Task<> {
        std::array<std::byte, 1> word{};
        const int other = 1 - world.rank();
        std::vector<Comm::Request> requests{world.irecv(word, other), world.irecv(word, other)};
        for (int i = 0; i < 2; ++i) {
            co_await control.turn(true);
            requests.push_back(world.isend(word, other));
        }
        co_await world.wait_all(requests);
    });
    EXPECT_EQ(all, (std::vector<double>{20, 20}));
}

// L = 6, o = 2, g = 1. The message of rank 1 is there at 8, while rank 0 computes until 10. It was sent at 0,
// after the second computation was asked for (whose turn comes with the first one's begin) and before the
// send was: 10 to 20 computation, 20 to 22 the message, 22 to 24 the send.
TEST(LogGops, ACoreDoesFirstWhatWasCausedFirst) {
    const auto all = times(model(6, 2, 1), 2, [](Comm& world, Control& control) -> Task<> {
        std::array<std::byte, 1> word{};
        if (world.rank() == 0)
            for (int i = 0; i < 2; ++i) {
                co_await control.turn(false);
                co_await control.busy(10e-6);
            }
        co_await control.turn(true);
        co_await world.send(word, 1 - world.rank());
        co_await world.recv(word, 1 - world.rank());
    });
    EXPECT_EQ(all, (std::vector<double>{24, 32}));
}

// What a collective's messages are, sent by hand.
using Stages = std::function<Task<>(Comm&, Control&)>;

// L = 6, o = 2, g = 9, G = 0.01; ranks that come at different times. A collective is the messages of its
// algorithm, each when its core is free.
TEST(LogGops, ACollectiveIsItsMessages) {
    constexpr int ranks = 8, bytes = 800;
    const json described = model(6, 2, 9, 0.01, 0.004);
    std::vector<std::byte> data(bytes), all(std::size_t{ranks} * bytes);
    const auto come = [](Comm& world, Control& control) {
        return control.busy(1e-6 * (world.rank() * 7 % 5));
    };
    struct Case {
        Call call;
        Stages by_hand;
    };
    const Case cases[] = {
        {{.what = Collective::allreduce, .out = data, .in = data, .algorithm = "recursive-doubling"},
         [&](Comm& world, Control& control) -> Task<> {
             for (int bit = 1; bit < ranks; bit *= 2) {
                 const int peer = world.rank() ^ bit;
                 co_await control.turn(true);
                 co_await world.sendrecv(data, peer, data, peer);
             }
         }},
        {{.what = Collective::allgather, .out = data, .in = all, .algorithm = "ring"},
         [&](Comm& world, Control& control) -> Task<> {
             for (int step = 1; step < ranks; ++step) {
                 co_await control.turn(true);
                 co_await world.sendrecv(data, (world.rank() + 1) % ranks, data,
                                         (world.rank() + ranks - 1) % ranks);
             }
         }},
        {{.what = Collective::bcast, .in = data, .algorithm = "linear"},
         [&](Comm& world, Control& control) -> Task<> {
             if (world.rank() > 0) co_await world.recv(data, 0);
             for (int to = 1; world.rank() == 0 && to < ranks; ++to) {
                 co_await control.turn(true);
                 co_await world.send(data, to);
             }
         }},
    };
    for (const Case& each : cases) {
        const auto collective = times(described, ranks, [&](Comm& world, Control& control) -> Task<> {
            co_await come(world, control);
            co_await world.collective(each.call);
        });
        const auto by_hand = times(described, ranks, [&](Comm& world, Control& control) -> Task<> {
            co_await come(world, control);
            co_await each.by_hand(world, control);
        });
        EXPECT_EQ(collective, by_hand) << name_of(each.call.what);
    }
}

// A rank that has a message in its adapter computes; one that sends again waits for the gap.
TEST(LogGops, TheCoreWaitsForTheGapOnlyWhereItSends) {
    json hardware = model(10, 2, 5);
    hardware["node"]["loggops"] = false;
    for (const bool computes : {true, false})
        for (const bool loggops : {true, false}) {
            const auto all =
                times(loggops ? model(10, 2, 5) : hardware, 2, [=](Comm& world, Control& control) -> Task<> {
                    std::array<std::byte, 1> word{};
                    if (world.rank() == 0) co_await world.send(word, 1);
                    else co_await world.recv(word, 0);
                    if (computes) co_await control.busy(3e-6);
                    if (world.rank() == 0) co_await world.send(word, 1);
                    else co_await world.recv(word, 0);
                });
            EXPECT_EQ(all[0], computes || loggops ? 7 : 4) << computes << loggops;
        }
}

}  // namespace
}  // namespace leadline
