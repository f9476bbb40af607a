// Network tiers by their names.
#include "machine/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace leadline::machine {
namespace {

// Python knows tiers by the first lines of their files, the simulator by what entered itself.
TEST(Network, EveryTierIsNamedInItsFirstLine) {
    const auto room = std::filesystem::path(__FILE__).parent_path() / "../../machine/networks";
    std::vector<std::string> named;
    for (const auto& entry : std::filesystem::directory_iterator(room)) {
        const std::string name = entry.path().stem();
        std::string first;
        std::getline(std::ifstream(entry.path()) >> std::ws, first);
        if (entry.path().extension() == ".cpp" && first.starts_with("// Tier `" + name + "`"))
            named.push_back(name);
    }
    std::ranges::sort(named);
    EXPECT_EQ(named, network_tiers());
}

TEST(Network, AnUnknownTierIsRefusedWithThoseThatThereAre) {
    Machine machine;
    const auto one = make_topology(nlohmann::json{{"kind", "single"}});
    struct : Listener {
        void injected(std::uint32_t, Time) override {}
        void arrived(std::uint32_t, Time) override {}
    } nobody;
    try {
        (void)make_network("fluid", machine, *one, nobody, false);
        FAIL();
    } catch (const std::invalid_argument& refusal) {
        const std::string said = refusal.what();
        for (const auto& each : network_tiers()) EXPECT_NE(said.find(each), std::string::npos) << said;
    }
}

// 1 KiB is five packets of 240 B, over up to 48 links of 32x32x32 nodes: 2^34 / 240 messages.
TEST(Network, PacketsArePlayedForAQuarterOfAnHourAtMost) {
    Machine machine;
    machine.packets = {.payload = 240, .overhead = 16, .granule = 32};
    const auto torus = make_topology(nlohmann::json{{"kind", "torus"}, {"shape", {32, 32, 32}}});
    EXPECT_TRUE(playable_by_packets(machine, *torus, 1024, 71'582'788));
    EXPECT_FALSE(playable_by_packets(machine, *torus, 1024, 71'582'789));
    EXPECT_TRUE(playable_by_packets(machine, *make_topology({{"kind", "single"}}), 0, 1'000'000'000));
}

}  // namespace
}  // namespace leadline::machine
