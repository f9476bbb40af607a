// What messages cost after a computation that took the caches, by known answers.
#include <gtest/gtest.h>

#include "testing.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

constexpr double send = 1e-6, receive = 2e-6, way = 3e-6 + 1e-7;  // of round_machine(), two nodes

// 1000 B walked through cost 1 us an end and 1 ns a byte, 3000 B 2 us and 4 ns; walks take 1 and 5 us.
json chilled() {
    json described = round_machine();
    described["links"].erase("rate");
    described["node"]["memory"] = 1e9;
    described["cold"] = {{{"walked", 1000}, {"time", 1e-6}, {"overhead", 1e-6}, {"copy", 1e9}},
                         {{"walked", 3000}, {"time", 5e-6}, {"overhead", 2e-6}, {"copy", 2.5e8}}};
    return described;
}

struct Walk {
    double bytes = 0;                // that are known
    double seconds = 0, memory = 0;  // or computed so long, in so much memory
};

// Rank 0 walks and sends messages of `bytes` to rank 1, which waits for them; when each has the last one, s
// after the walk.
std::array<double, 2> after(const Walk& walk, std::int64_t bytes, int messages, int walker = 0) {
    std::array<double, 2> ends{};
    play(on(2, chilled(), {2}), [&](Comm world, Control control) -> Task<> {
        std::vector<std::byte> data(static_cast<std::size_t>(bytes));
        if (world.rank() == walker) {
            if (walk.bytes > 0) co_await control.charge({.flops = 0, .bytes = walk.bytes});
            co_await control.busy(walk.seconds);
            control.walked(walk.seconds, walk.memory);
        }
        const double walked = walk.bytes * 1e-9 + walk.seconds;
        for (int i = 0; i < messages; ++i)
            if (world.rank() == 0) co_await world.send(data, 1);
            else co_await world.recv(data, 0);
        ends[static_cast<std::size_t>(world.rank())] = control.now() - walked;
    });
    return ends;
}

void expect(const std::array<double, 2>& found, double sender, double receiver) {
    EXPECT_NEAR(found[0], sender, 1e-12);
    EXPECT_NEAR(found[1], receiver, 1e-12);
}

// The sender's end is a core's that walked, the receiver's of one that did not.
TEST(Cold, TheFirstMessagePaysForTheCodeAndOnlyTheFirst) {
    expect(after({.bytes = 1000}, 0, 1), 1e-6 + send, 1e-6 + send + way + receive);
    expect(after({.bytes = 1000}, 0, 2), 1e-6 + 2 * send, 1e-6 + send + way + 2 * receive);
}

// Half way between two rows half way between their costs; beyond the last as the last.
TEST(Cold, CostsGoStraightFromRowToRow) {
    expect(after({.bytes = 500}, 0, 1), 0.5e-6 + send, 0.5e-6 + send + way + receive);
    expect(after({.bytes = 2000}, 0, 1), 1.5e-6 + send, 1.5e-6 + send + way + receive);
    expect(after({.bytes = 9000}, 0, 1), 2e-6 + send, 2e-6 + send + way + receive);
}

// A receiver that walked through 3000 B takes 500 B for 4 ns a byte, less the 1 ns of a message that has 1000
// B of buffers; then has 2500 B left: 3.25 ns, less 1. Both are there long before; a receive takes its 2 us.
TEST(Cold, TheReceiverPaysForAsManyBytesAsItWalkedThrough) {
    const Walk walk{.seconds = 100e-6, .memory = 3000};
    expect(after(walk, 500, 1, 1), send - 100e-6, 2e-6 + 1.5e-6 + receive);
    expect(after(walk, 500, 2, 1), 2 * send - 100e-6, 2e-6 + 1.5e-6 + 1.125e-6 + 2 * receive);
    expect(after(walk, 1500, 1, 1), send - 100e-6, 2e-6 + receive);  // as cold by itself
}

// 3 us are half way from the first walk to the second, so 2000 B; but never more than the memory.
TEST(Cold, ATimeIsAsMuchMemoryAsAWalkOfThatTimeButNoMoreThanThereIs) {
    const auto first = [](double seconds, double memory) {
        return after({.seconds = seconds, .memory = memory}, 0, 1)[0] - send;
    };
    EXPECT_NEAR(first(3e-6, 1e6), 1.5e-6, 1e-12);
    EXPECT_NEAR(first(3e-6, 1500), 1.25e-6, 1e-12);
    EXPECT_NEAR(first(3e-6, 0), 0, 1e-12);
    EXPECT_NEAR(first(1, 1e6), 2e-6, 1e-12);
}

}  // namespace
}  // namespace leadline
