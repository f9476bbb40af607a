// Where numbers end: more messages of one pair under way than 16 bits count, and times beyond the clock's.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// A long message that is routed by load, then 70,000 short ones that are there before it: they are met in the
// order of sending.
TEST(Limits, ManyMessagesOfAPairKeepTheirOrder) {
    constexpr int many = 70'000;
    json described = packet_machine();
    described["node"] = {{"cores", 1}, {"ranks", 1}};
    described["protocol"] = {{{"name", "short"}, {"up_to", 100}}, {{"name", "eager"}, {"adaptive", true}}};
    const json narrow{{"kind", "fat-tree"}, {"arity", {4, 3}}, {"up", {2}}, {"width", {1, 0.01}}};
    int wrong = 0;
    ends(every_placement(described, narrow, "loggp"), [&](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(20'000'000);
        std::array<int, 1> word{-1};
        const Bytes small = std::as_writable_bytes(std::span(word));
        if (world.rank() == 0) {
            Comm::Request first = world.isend(data, 10);
            for (int i = 1; i < many; ++i) {
                word[0] = i;
                co_await world.send(small, 10);
            }
            co_await world.wait(first);
        } else if (world.rank() == 10) {
            co_await world.recv(data, 0);
            for (int i = 1; i < many; ++i) {
                co_await world.recv(small, 0);
                wrong += static_cast<int>(word[0] != i);
            }
        }
    });
    EXPECT_EQ(wrong, 0);
}

// A link of a nanobyte a second, and a rank that computes for a year: no clock goes there.
TEST(Limits, ATimeBeyondTheClockIsAnError) {
    const Body message = round_trip(1, 1'000'000);
    for (const auto& tier : tiers()) {
        json described = round_machine();
        described["links"]["rate"] = 1e-3;
        described["packets"] = {{"payload", 240}};
        json simulate = on(2, described);
        simulate["network"] = tier;
        EXPECT_THROW(ends(simulate, message), std::range_error) << tier;
    }
    const Body year = [](Comm&, Control& control) -> Task<> {
        for (int day = 0; day < 365; ++day) co_await control.busy(86400);
    };
    EXPECT_THROW(ends(on(2), year), std::range_error);
    const Body never = [](Comm&, Control& control) -> Task<> { co_await control.busy(1e300); };
    EXPECT_THROW(ends(on(2), never), std::range_error);
}

// All are handed over before the first arrives, and nothing is sent after: what they waited for one another
// on the link from node 1 to node 2 is known when the run is over, and the run is done again.
TEST(Limits, AutoSeesWhatTheLastMessagesWaitedFor) {
    json simulate = on(8, packet_machine(), {8});
    const Body meets = [](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(2000);
        if (world.rank() < 2) co_await world.send(data, 2 + world.rank());
        else if (world.rank() < 4) co_await world.recv(data, world.rank() - 2);
    };
    simulate["network"] = "loggp";
    const Ends alone = ends(simulate, meets);
    simulate["network"] = "packet";
    const Ends known = ends(simulate, meets);
    EXPECT_GT(known[3], 1.2 * alone[3]);
    simulate["network"] = "auto";
    EXPECT_EQ(ends(simulate, meets), known);
}

// Messages that meet on a link of a ring so long that packets could not count their hops: short as they are,
// they are asked of `flow`, and what the choice says is what that tier says.
TEST(Limits, AutoTakesFlowWhereRoutesAreTooLongForPackets) {
    constexpr int nodes = 2 * machine::longest_packet_route;
    json simulate = on(nodes, packet_machine(), {nodes});
    const Body meets = [](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(2000);
        if (world.rank() < 2) co_await world.send(data, 2 + world.rank());
        else if (world.rank() < 4) co_await world.recv(data, world.rank() - 2);
    };
    simulate["network"] = "packet";
    EXPECT_THROW(ends(simulate, meets), std::invalid_argument);
    simulate["network"] = "flow";
    const Ends known = ends(simulate, meets);
    simulate["network"] = "auto";
    EXPECT_EQ(ends(simulate, meets), known);
}

}  // namespace
}  // namespace leadline
