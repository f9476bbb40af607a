// Which tier answers, collectives in every tier, and closed forms that each must give.
#include <gtest/gtest.h>

#include "tiers.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

// ------------------------------------------------------------------------------------------- auto

// The record of a point, asked of a tier.
json record(const std::string& benchmark, const json& point, json simulate, const std::string& tier) {
    simulate["network"] = tier;
    for (const auto& line : ask(json::array({question(benchmark, point)}), simulate))
        if (line.at("event") == "record") return line;
    throw std::runtime_error("no record of " + benchmark);
}

TEST(Tiers, AutoIsLogGpWhereNobodyIsInTheWay) {
    const json alone =
        record("pingpong", {{"bytes", 65536}, {"buffers", "reused"}}, on(2, packet_machine()), "auto");
    EXPECT_EQ(alone.at("network"), "loggp");
    const json fan = record("fan", {{"direction", "in"}, {"neighbours", 4}, {"bytes", 65536}, {"window", 4}},
                            on(16, packet_machine(), {4, 4}), "auto");
    // Messages that come to a node together take turns there.
    EXPECT_EQ(fan.at("network"), "packet");
}

// Packets, until they are too many: messages of 1 MiB have 4,370 each.
TEST(Tiers, AutoIsPacketWhereTheyAreAndFlowWhereThatTakesLong) {
    json described = packet_machine();
    described["node"] = {{"cores", 1}, {"ranks", 1}};
    json line = on(4, described);
    line["topology"]["kind"] = "mesh";
    for (const auto& [bytes, tier] : {std::pair(16'384, "packet"), std::pair(1 << 20, "flow")})
        for (const std::string pattern : {"nested", "overlapping"}) {
            const json point{{"pattern", pattern},
                             {"measured", "second"},
                             {"other", "busy"},
                             {"bytes", bytes},
                             {"window", 16}};
            const json chosen = record("congestion", point, line, "auto");
            EXPECT_EQ(chosen.at("network"), tier);
            EXPECT_EQ(chosen.at("samples"), record("congestion", point, line, tier).at("samples"));
            json idle = point;
            idle["other"] = "idle";
            EXPECT_EQ(record("congestion", idle, line, "auto").at("network"), "loggp");
        }
}

// ------------------------------------------------------------------------------------------- collectives

Ends after(const std::string& operation, const json& simulate, std::size_t bytes) {
    return ends(simulate, [&](Comm& world, Control& control) -> Task<> {
        std::vector<std::byte> data(bytes);
        co_await control.busy(1e-7 * (world.rank() % 5));
        if (operation == "barrier") co_await world.barrier();
        if (operation == "bcast") co_await world.bcast(data, 3);
        if (operation == "allreduce") co_await world.allreduce(data, data, Type::int64, Reduce::sum);
    });
}

// A machine without packets' limits, one that asks first, and one with two ranks a node and other costs
// there.
std::vector<json> collective_machines() {
    json asking = wide_open(0);
    asking["protocol"][0].update({{"handshake", true}, {"handshake_overhead", 5e-7}});
    json within = two_ranks(wide_open(0));
    within["local_protocol"] = {{{"name", "copied"},
                                 {"send_overhead", 3e-7},
                                 {"receive_overhead", 2e-7},
                                 {"send_copy", 1e9},
                                 {"receive_copy", 2e9}}};
    return {wide_open(0), asking, within};
}

const json torus{{"kind", "torus"}, {"shape", {4, 2}}};

// On links without end a collective has nobody in its way: every tier gives the same, whoever shares a node
// and whichever protocol its messages take.
TEST(Tiers, ACollectiveAloneGivesOneAnswer) {
    for (const auto& described : collective_machines())
        for (const std::string operation : {"barrier", "bcast", "allreduce"})
            for (const std::size_t bytes : {8, 1500}) {
                const Ends expected = after(operation, every_placement(described, torus, "loggp"), bytes);
                for (const std::string tier : {"flow", "packet", "auto"})
                    EXPECT_EQ(after(operation, every_placement(described, torus, tier), bytes), expected)
                        << tier << ' ' << operation << " of " << bytes << " B on " << described;
            }
}

// Who asks for a tier gets it, whoever is in the way and shares a node.
TEST(Tiers, ACollectiveIsAnsweredByTheTierThatWasAsked) {
    const json point{{"communicator", "world-1"}, {"type", "double"}, {"bytes", 65536}};
    const json line{{"kind", "mesh"}, {"shape", {8}}};
    for (const auto& described : {packet_machine(), two_ranks(packet_machine())}) {
        for (const auto& tier : tiers())
            EXPECT_EQ(record("allreduce", point, every_placement(described, line, tier), tier).at("network"),
                      tier);
        EXPECT_NE(record("allreduce", point, every_placement(described, line, "auto"), "auto").at("network"),
                  "loggp");
    }
}

// Recursive doubling at once is what each rank's own exchanges are.
TEST(Tiers, ACollectiveIsItsMessages) {
    for (const auto& described : collective_machines())
        for (const auto& tier : tiers()) {
            const json simulate = every_placement(described, torus, tier);
            const Ends said = ends(simulate, [](Comm& world, Control& control) -> Task<> {
                std::vector<std::byte> data(1500);
                co_await control.busy(1e-7 * (world.rank() % 5));
                for (int k = 1; k < world.size(); k *= 2)
                    co_await world.sendrecv(data, world.rank() ^ k, data, world.rank() ^ k);
            });
            EXPECT_EQ(after("allreduce", simulate, 1500), said) << tier << ' ' << described;
        }
}

// ------------------------------------------------------------------------------------------- closed forms

// A token once round: every rank's overheads and wires, one after the other.
TEST(LogGp, ARingOfMessagesTakesTheSumOfItsParts) {
    for (const auto& tier : tiers()) {
        json simulate = on(9);
        simulate["network"] = tier;
        const Ends all = ends(simulate, [](Comm& world, Control&) -> Task<> {
            std::vector<std::byte> data(500);
            const int me = world.rank();
            if (me > 0) co_await world.recv(data, me - 1);
            co_await world.send(data, (me + 1) % 9);
            if (me == 0) co_await world.recv(data, 8);
        });
        EXPECT_NEAR(all[0], 9 * (1e-6 + 3e-6 + 1e-7 + 500e-9 + 2e-6), 1e-12) << tier;
    }
}

// All send to one at the same time. Where its engine is slower than its core, the last is there when the
// engine has taken all bytes; where its core is slower, when the core has taken all messages.
TEST(LogGp, AFanInIsBoundByTheEngineOrByTheCore) {
    constexpr int senders = 7;
    for (const double reception : {1e8, 1e10}) {
        json described = round_machine();
        described["links"] = {{"base", 3e-6}};
        described["node"]["reception"] = reception;
        const Ends all = ends(on(8, described), [](Comm& world, Control&) -> Task<> {
            std::vector<std::byte> data(1000);
            if (world.rank() > 0) co_await world.send(data, 0);
            else
                for (int i = 0; i < senders; ++i) co_await world.recv_any(data);
        });
        const double first = 1e-6 + 3e-6 + 1000 / reception;
        const double rest = (senders - 1) * std::max(1000 / reception, 2e-6);
        EXPECT_NEAR(all[0], first + rest + 2e-6, 1e-12);
    }
}

// A rendezvous whose receiver comes late is granted when it comes; its sender is free when the bytes have
// left.
TEST(LogGp, ARendezvousBeginsWhenBothAreThere) {
    json described = round_machine();
    described["protocol"][0].update({{"handshake", true}, {"handshake_overhead", 5e-7}});
    for (const auto& tier : tiers())
        for (const double late : {0.0, 40e-6}) {
            json simulate = on(2, described);
            simulate["network"] = tier;
            const Ends all = ends(simulate, [=](Comm& world, Control& control) -> Task<> {
                std::vector<std::byte> data(10'000);
                if (world.rank() == 0) {
                    co_await world.send(data, 1);
                } else {
                    co_await control.busy(late);
                    co_await world.recv(data, 0);
                }
            });
            const double granted = std::max(5e-7 + 3.1e-6, late) + 5e-7 + 3.1e-6;
            EXPECT_NEAR(all[0], granted + 1e-6 + 10e-6, 1e-12) << tier;
            EXPECT_NEAR(all[1], granted + 1e-6 + 10e-6 + 3.1e-6 + 2e-6, 1e-12) << tier;
        }
}

// Broadcasts follow one another, as many as last 20 us: the root is done with one in 1 us and 6.1 us have
// passed before the other rank is, which takes every further one in 2 us.
TEST(LogGp, BroadcastsOverlapAndAllreducesDoNot) {
    const json first = record("bcast", {{"bytes", 8}}, on(2), "loggp");
    EXPECT_EQ(first.at("batch"), 8);
    EXPECT_EQ(first.at("samples").size(), 1);
    EXPECT_NEAR(first.at("samples").front(), (1e-6 + 3.1e-6 + 8e-9 + 8 * 2e-6) / 8, 1e-12);

    const json isolated = record("bcast", {{"bytes", 8}, {"cadence", "isolated"}}, on(2), "loggp");
    EXPECT_EQ(isolated.at("batch"), 1);
    EXPECT_NEAR(isolated.at("samples").front(), 1e-6 + 3.1e-6 + 8e-9 + 2e-6, 1e-12);
    const json together = record("allreduce", {{"bytes", 8}}, on(2), "loggp");
    EXPECT_EQ(together.at("batch"), 1);
}

}  // namespace
}  // namespace leadline
