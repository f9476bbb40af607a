// A machine as it is read: what packets make of bytes, which protocol a size takes, and what is refused.
#include "machine/description.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace leadline::machine {
namespace {

using nlohmann::json;

json least() { return {{"name", "least"}, {"protocol", {{{"name", "eager"}}}}}; }

std::string refused(const json& description) {
    try {
        parse_machine(description);
    } catch (const std::invalid_argument& problem) {
        return problem.what();
    }
    return "";
}

// Blue Gene's torus: packets of 32 B steps up to 256 B, of which 16 B are not payload.
TEST(Description, PacketsRoundUpToTheirGranule) {
    const Packets packets{.payload = 240, .overhead = 16, .granule = 32};
    EXPECT_EQ(packets.largest(), 256);
    for (const auto& [bytes, count, wire] :
         std::vector<std::array<std::int64_t, 3>>{{0, 1, 32},
                                                  {1, 1, 32},
                                                  {16, 1, 32},
                                                  {17, 1, 64},
                                                  {240, 1, 256},
                                                  {241, 2, 288},
                                                  {480, 2, 512},
                                                  {481, 3, 544},
                                                  {1000, 5, 4 * 256 + 64}}) {
        EXPECT_EQ(packets.count(bytes), count) << bytes;
        EXPECT_EQ(packets.wire(bytes), wire) << bytes;
    }
}

// Without packets a message is as large as it is.
TEST(Description, WithoutPacketsTheWireHasTheBytes) {
    const Packets packets;
    for (const std::int64_t bytes : {0, 1, 1 << 30}) {
        EXPECT_EQ(packets.count(bytes), 1);
        EXPECT_EQ(packets.wire(bytes), bytes);
    }
}

// No wire carries more bytes for fewer, nor more than one packet's worth beyond what must be.
TEST(Description, WireGrowsWithBytes) {
    const Packets packets{.payload = 100, .overhead = 7, .granule = 8};
    std::int64_t before = 0;
    for (std::int64_t bytes = 0; bytes < 1000; ++bytes) {
        const std::int64_t wire = packets.wire(bytes);
        EXPECT_GE(wire, before);
        EXPECT_GE(wire, bytes + 7 * packets.count(bytes));
        EXPECT_LE(wire, packets.largest() * packets.count(bytes));
        before = wire;
    }
}

TEST(Description, ASizeTakesTheFirstRowThatFitsIt) {
    json described = least();
    described["protocol"] = {{{"name", "short"}, {"up_to", 224}},
                             {{"name", "eager"}, {"up_to", 1200}},
                             {{"name", "rendezvous"}, {"up_to", 5000}, {"handshake", true}}};
    described["local_protocol"] = {{{"name", "copied"}}};
    EXPECT_EQ(parse_machine(described).protocol(8, Reach::own).name, "copied");
    described["own_protocol"] = {{{"name", "own"}}};
    const Machine machine = parse_machine(described);
    EXPECT_EQ(machine.protocol(0, Reach::nodes).name, "short");
    EXPECT_EQ(machine.protocol(224, Reach::nodes).name, "short");
    EXPECT_EQ(machine.protocol(225, Reach::nodes).name, "eager");
    EXPECT_EQ(machine.protocol(1201, Reach::nodes).name, "rendezvous");
    EXPECT_EQ(machine.protocol(1 << 30, Reach::nodes).name,
              "rendezvous");  // whatever is larger takes the last row
    EXPECT_EQ(machine.protocol(1 << 30, Reach::node).name, "copied");
    EXPECT_EQ(machine.protocol(1 << 30, Reach::own).name, "own");
    EXPECT_TRUE(
        machine.protocol(1201, Reach::nodes).waits);  // who asks first waits until the bytes have left
    EXPECT_FALSE(machine.protocol(0, Reach::nodes).waits);
}

// What is not told of costs nothing and holds nobody up.
TEST(Description, TheLeastMachineIsWithoutCosts) {
    const Machine machine = parse_machine(least());
    EXPECT_EQ(machine.links.rate, infinite);
    EXPECT_EQ(machine.node.ranks, 1);
    EXPECT_EQ(machine.protocol(8, Reach::node).name, "eager");
    EXPECT_FALSE(machine.barrier.present);
    EXPECT_FALSE(machine.noise.present);
}

TEST(Description, TimesAreReadToThePicosecond) {
    json described = least();
    described["links"] = {{"hop", 6.4e-8}, {"base", 1e-12}};
    EXPECT_EQ(parse_machine(described).links.hop, 64'000);
    EXPECT_EQ(parse_machine(described).links.base, 1);
}

// Each wrong thing in one sentence with its key.
TEST(Description, WhatCannotBeIsRefusedWithItsKey) {
    const auto with = [](const char* table, json content) {
        json described = least();
        described[table] = std::move(content);
        return refused(described);
    };
    EXPECT_EQ(refused(least()), "");
    EXPECT_EQ(refused({{"name", "none"}}), "machine description: protocol has at least one row");
    EXPECT_EQ(with("links", {{"rate", 0}}), "machine description: links.rate is more than nothing");
    EXPECT_EQ(with("links", {{"hop", -1e-9}}),
              "machine description: links.hop is not negative, but got -1e-09");
    EXPECT_EQ(with("links", {{"hop", 1e7}}),
              "machine description: links.hop is at most 100 s, but got 10000000.0");
    EXPECT_EQ(with("node", {{"ranks", 3e9}}),
              "machine description: node.ranks is less than 2^31, but got 3000000000.0");
    EXPECT_EQ(with("links", {{"hop", "fast"}}),
              "machine description: links.hop is a number, but got \"fast\"");
    EXPECT_EQ(with("links", 5), "machine description: links is a table");
    EXPECT_EQ(with("packets", {{"payload", 0}}), "machine description: packets.payload is 1 or more");
    EXPECT_EQ(with("packets", {{"granule", 0}}), "machine description: packets.granule is 1 or more");
    EXPECT_EQ(with("node", {{"ranks", 0}}), "machine description: node.ranks is 1 or more");
    EXPECT_EQ(with("node", {{"sockets", 0}}), "machine description: node.sockets is 1 or more");
    EXPECT_EQ(with("node", {{"poll", 0}}), "machine description: node.poll is more than nothing");
    EXPECT_EQ(with("noise", {{"interval", 1e-6}, {"detour", 2e-6}}),
              "machine description: noise.interval is longer than noise.detour");
    EXPECT_EQ(
        with("cold", {{{"walked", 9}, {"time", 1e-6}}, {{"walked", 9}, {"time", 2e-6}}}),
        "machine description: cold.walked is more in each row than in the one before, and so is its time");
    EXPECT_EQ(with("cold", {{{"walked", 9}, {"time", 1e-6}, {"handshake_copy", 0}}}),
              "machine description: cold.handshake_copy is more than nothing");
    EXPECT_EQ(with("protocol", {{{"name", "a"}, {"up_to", 9}}, {{"name", "b"}, {"up_to", 8}}}),
              "machine description: protocol stands in the order of up_to");
}

}  // namespace
}  // namespace leadline::machine
