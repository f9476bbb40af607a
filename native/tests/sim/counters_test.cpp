// What a message costs in things that can be counted: networks, routes and pieces of memory. Speed is
// measured elsewhere; a change that writes a route or fetches memory for each message is seen here.
#include <gtest/gtest.h>

#include "machine/networks/watched.hpp"
#include "machine/topology.hpp"
#include "tiers.hpp"

#ifdef LEADLINE_SANITIZE  // of the sanitizer's runtime; GCC 12 has it without the header that says so
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*, std::size_t),
                                                         void (*given_back)(const volatile void*));
#endif

namespace leadline {
namespace {

using namespace testing_sim;

std::size_t routes = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

// Another topology, of which it is counted how many routes are written down.
class Counted final : public machine::Topology {
public:
    explicit Counted(const json& description) : inner_(machine::make_topology(description.at("of"))) {}
    [[nodiscard]] int nodes() const override { return inner_->nodes(); }
    [[nodiscard]] machine::Link links() const override { return inner_->links(); }
    [[nodiscard]] int hops(int from, int to) const override { return inner_->hops(from, to); }
    [[nodiscard]] int diameter() const override { return inner_->diameter(); }
    [[nodiscard]] double width(machine::Link link) const override { return inner_->width(link); }
    [[nodiscard]] std::pair<int, int> ends(machine::Link link) const override { return inner_->ends(link); }
    [[nodiscard]] int variants(int from, int to) const override { return inner_->variants(from, to); }
    void route(int from, int to, int variant, std::vector<machine::Link>& route) const override {
        ++routes;
        inner_->route(from, to, variant, route);
    }
    [[nodiscard]] RouteEnds route_ends(int from, int to) const override {
        return inner_->route_ends(from, to);
    }
    [[nodiscard]] std::vector<int> coordinates(int node) const override { return inner_->coordinates(node); }
    [[nodiscard]] int node_at(const std::vector<int>& coordinates) const override {
        return inner_->node_at(coordinates);
    }
    [[nodiscard]] std::vector<int> axes() const override { return inner_->axes(); }
    [[nodiscard]] bool grid() const override { return inner_->grid(); }

private:
    std::unique_ptr<machine::Topology> inner_;
};
const machine::TopologyKind counted("counted", [](const json& description) {
    return std::unique_ptr<machine::Topology>(std::make_unique<Counted>(description));
});

constexpr int nodes = 64;

json counted_torus(const std::string& tier) {
    json simulate = on(nodes, packet_machine(), {8, 8});
    simulate["topology"] = {{"kind", "counted"}, {"of", simulate.at("topology")}};
    simulate["network"] = tier;
    return simulate;
}

// Every rank sends this many messages to the one nine places on, and gets as many.
Body shifts(int rounds, std::size_t bytes = 64) {
    return [=](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(bytes);
        const int size = world.size();
        for (int i = 0; i < rounds; ++i)
            co_await world.sendrecv(data, (world.rank() + 9) % size, data, (world.rank() + size - 9) % size);
    };
}

Body allreduces(int rounds) {
    return [=](Comm& world, Control&) -> Task<> {
        std::vector<std::byte> data(8);
        for (int i = 0; i < rounds; ++i) co_await world.allreduce(data, data, Type::float64, Reduce::sum);
    };
}

std::size_t routes_of(const json& simulate, const Body& body) {
    machine::watching = false;  // who looks on asks for routes, too
    routes = 0;
    ends(simulate, body);
    machine::watching = true;
    return routes;
}

// `loggp` needs no more than the first link of a route and the last. The packets of a message share its
// route; of messages of a pair that follow one another while the first still flows the stream has it.
TEST(Counters, a_message_writes_its_route_at_most_once) {
    EXPECT_EQ(routes_of(counted_torus("loggp"), shifts(10)), 0);
    EXPECT_LE(routes_of(counted_torus("flow"), shifts(10)), 10 * nodes);
    EXPECT_EQ(routes_of(counted_torus("packet"), shifts(10, 8192)), 10 * nodes);
}

// Messages go through the network of the run. What is computed at once takes one more a stage where it asks
// how its messages meet, and one more where they do; an allreduce of 64 ranks has six stages.
TEST(Counters, networks_are_made_a_run_and_a_stage_and_not_a_message) {
    for (const std::string tier : {"loggp", "flow", "packet", "auto"}) {
        SCOPED_TRACE(tier);
        const auto made = [&](const Body& body) {
            const std::size_t before = machine::networks_made;
            ends(counted_torus(tier), body);
            return machine::networks_made - before;
        };
        EXPECT_LE(made(shifts(20)), 2);
        EXPECT_LE(made(allreduces(5)), tier == "loggp" ? 1 : 1 + 5 * 6 * (tier == "auto" ? 2 : 1));
    }
}

#ifdef LEADLINE_SANITIZE

std::size_t pieces = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
bool counting = false;   // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { pieces += counting ? 1 : 0; }, [](const volatile void*) {});

// Pieces of memory that a program of shifts takes beyond one of fewer, a message.
double pieces_a_message(const std::string& tier, std::size_t bytes) {
    const auto taken = [&](int rounds) {
        pieces = 0;
        counting = true;
        ends(counted_torus(tier), shifts(rounds, bytes));
        counting = false;
        return static_cast<double>(pieces);
    };
    machine::watching = false;  // who looks on keeps a book of each message
    taken(10);
    const double few = taken(10);
    const double many = taken(110);
    machine::watching = true;
    return (many - few) / (100 * nodes);
}

// The coroutine of a call and nothing else: messages, operations and events come from pools.
TEST(Counters, a_message_takes_no_memory_but_that_of_the_call) {
    ASSERT_GT(hooks, 0);
    for (const std::string& tier : tiers()) {
        SCOPED_TRACE(tier);
        EXPECT_LE(pieces_a_message(tier, 64), 1.1);
        EXPECT_LE(pieces_a_message(tier, 8192), 1.1);
    }
}

#endif

}  // namespace
}  // namespace leadline
