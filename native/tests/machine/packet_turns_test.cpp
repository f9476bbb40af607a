// Where adapters have a queue for each connection, messages of a node to different nodes take turns.
#include "tests/machine/packet_play.hpp"

namespace leadline::machine {
namespace {

// Leaves of four nodes, half as many cables up; adapters as fast as links.
std::unique_ptr<Topology> tapered() {
    return make_topology({{"kind", "fat-tree"}, {"arity", {4, 4}}, {"up", {2}}});
}

constexpr std::int64_t bytes = 240'000;  // 1,000 whole packets
const Time wire = transfer_time(256'000, 425e6);
const Time packet = wire / 1000;
const Time way = 900'000 + 2 * Time{58'000};  // of an idle network, beside the bytes

void expect_about(Time found, Time right) {
    EXPECT_NEAR(static_cast<double>(found), static_cast<double>(right), 1e4);
}

Time last(const Ear& ear) {
    return std::ranges::max_element(ear.came, {}, &std::pair<const std::uint32_t, Time>::second)->second;
}

TEST(PacketTurns, messages_to_different_nodes_end_together) {
    const auto tree = tapered();
    const Play play(machine(), *tree, {{0, transfer(0, 1, bytes, 1)}, {0, transfer(0, 2, bytes, 2)}});
    // The first has two packets before the other's turn.
    expect_about(play.ear.came.at(1), 2 * wire - 2 * packet + way);
    expect_about(play.ear.came.at(2), 2 * wire + way);
}

TEST(PacketTurns, messages_to_one_node_go_one_after_the_other) {
    const auto tree = tapered();
    const Play play(
        machine(), *tree,
        {{0, transfer(0, 1, bytes, 1)}, {0, transfer(0, 1, 240, 2)}, {0, transfer(0, 1, bytes, 3)}});
    expect_about(play.ear.came.at(1), wire + way);
    EXPECT_LT(play.ear.came.at(1), play.ear.came.at(2));
    expect_about(play.ear.came.at(3), 2 * wire + packet + way);
}

// A short message behind long ones to other nodes waits for a packet of each, and the long ones for it.
TEST(PacketTurns, a_short_message_is_not_held_up) {
    const auto tree = tapered();
    const Play play(machine(), *tree,
                    {{0, transfer(0, 1, bytes, 1)},
                     {0, transfer(0, 2, bytes, 2)},
                     {1'000'000'000, transfer(0, 3, 240, 3)}});
    EXPECT_LT(play.ear.came.at(3), 1'000'000'000 + way + 4 * packet);
    expect_about(last(play.ear), 2 * wire + packet + way);
}

// A long message, and short ones to two others, of which one comes whenever one could leave: each connection
// has every third packet.
TEST(PacketTurns, many_short_messages_starve_no_long_one) {
    const auto tree = tapered();
    std::vector<Timed> messages{{0, transfer(0, 1, bytes, 0)}};
    for (std::uint32_t i = 1; i < 4000; ++i)
        messages.push_back({static_cast<Time>(i) * packet, transfer(0, i % 2 == 0 ? 2 : 3, 240, i)});
    const Play play(machine(), *tree, messages);
    const Time thrice = 3 * wire + way;
    EXPECT_LT(play.ear.came.at(0), thrice + 4 * packet);
    EXPECT_GT(play.ear.came.at(0), thrice - 8 * packet);
}

// While the adapter may not begin another message, those that have begun go on: three of 1,000 packets each
// take as long as their bytes, though the gap between their beginnings is a third of that.
TEST(PacketTurns, the_gap_keeps_no_message_that_has_begun) {
    Machine slow = machine();
    slow.node.message_gap = wire;
    const auto tree = tapered();
    const Play play(
        slow, *tree,
        {{0, transfer(0, 1, bytes, 1)}, {0, transfer(0, 2, bytes, 2)}, {0, transfer(0, 3, bytes, 3)}});
    expect_about(last(play.ear), 3 * wire + way);
    slow.node.message_gap = 3 * wire;
    const Play gaps(
        slow, *tree,
        {{0, transfer(0, 1, bytes, 1)}, {0, transfer(0, 2, bytes, 2)}, {0, transfer(0, 3, bytes, 3)}});
    expect_about(last(gaps.ear), 7 * wire + way);
}

// All messages at once: each leaf's cables up carry what leaves it, and take no longer than that but for the
// first packet's way and what a few of them wait for each other at the end.
TEST(PacketTurns, an_alltoall_takes_what_its_tapered_cables_take) {
    const auto tree = tapered();
    std::vector<Timed> messages;
    for (int step = 1; step < 16; ++step)
        for (int node = 0; node < 16; ++node)
            messages.push_back(
                {0, transfer(node, (node + step) % 16, bytes, static_cast<std::uint32_t>(messages.size()))});
    const Play play(machine(), *tree, messages);
    const auto bound = static_cast<double>(24 * wire);
    EXPECT_GT(static_cast<double>(last(play.ear)), bound);
    EXPECT_LT(static_cast<double>(last(play.ear)), 1.02 * bound);
}

}  // namespace
}  // namespace leadline::machine
