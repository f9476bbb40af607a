// Random programs on machines whose messages share links, in each tier: when each rank ends, to the
// picosecond, as the file beside this one has it. Nothing says that its numbers are right; they say when a
// change of the code changes an answer. Where that is meant, LEADLINE_GOLDEN=write writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "random_programs.hpp"

namespace leadline {
namespace {

using namespace testing_sim;

json machine_of_packets() {
    json described = two_ranks(packet_machine());
    described["protocol"] = {
        {{"name", "short"}, {"up_to", 224}, {"send_overhead", 4e-7}, {"send_packet", 1e-7}},
        {{"name", "eager"}, {"up_to", 1200}, {"send_overhead", 1e-6}, {"header", 20}, {"send_copy", 3e9}},
        {{"name", "rendezvous"},
         {"handshake", true},
         {"handshake_overhead", 3e-7},
         {"header", 20},
         {"adaptive", true},
         {"receive_overhead", 2e-6}}};
    return described;
}

TEST(Golden, TimesAreWhatTheyWereToThePicosecond) {
    const auto file = std::filesystem::path(__FILE__).replace_filename("golden.json");
    json found = json::object();
    for (const json& topology : topologies())
        for (const auto& tier : tiers()) {
            const std::string kind = topology.at("kind");
            const json job = every_placement(machine_of_packets(), topology, tier);
            const int ranks = job.at("ranks");
            const Program program = draw({.ranks = ranks, .steps = 8 * ranks, .seed = 7});
            found[std::string(kind).append(" ").append(tier)] = simulate(job, program).ends;
        }
    if (const char* wish = std::getenv("LEADLINE_GOLDEN"); wish && std::string(wish) == "write")
        std::ofstream(file) << found.dump(0) << '\n';
    std::ifstream kept(file);
    const json expected = json::parse(kept);
    EXPECT_EQ(found.size(), expected.size());
    for (const auto& [name, times] : expected.items()) EXPECT_EQ(found.value(name, json()), times) << name;
}

}  // namespace
}  // namespace leadline
