// One node, no links: {"kind": "single"}.
#include <stdexcept>

#include "machine/topology.hpp"

namespace leadline::machine {
namespace {

class Single final : public Topology {
public:
    [[nodiscard]] int nodes() const override { return 1; }
    [[nodiscard]] Link links() const override { return 0; }
    [[nodiscard]] int hops(int, int) const override { return 0; }
    [[nodiscard]] int diameter() const override { return 0; }
    [[nodiscard]] std::pair<int, int> ends(Link) const override { throw std::out_of_range("no link"); }
    void route(int, int, int, std::vector<Link>&) const override {}
    [[nodiscard]] std::vector<int> coordinates(int node) const override { return {node}; }
    [[nodiscard]] int node_at(const std::vector<int>& coordinates) const override {
        return coordinates.front();
    }
    [[nodiscard]] std::vector<int> axes() const override { return {1}; }
};

const TopologyKind single("single", [](const nlohmann::json&) -> std::unique_ptr<Topology> {
    return std::make_unique<Single>();
});

}  // namespace
}  // namespace leadline::machine
