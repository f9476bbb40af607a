// A collective for all ranks of a communicator at once: each stage of its algorithm moves an array of clocks.
//
//   after a stage:  clock'(r) = max(clock(r) + o_s, ready(s) + L(s, r) + wire(bytes) / R) + o_r  (+
//   combining) ready(s) = clock(s) + o_s, or when the node's engine is free again, where several ranks share
//   it
//
// which is what the engine gives for the same sends and receives on an idle network. Where the network is not
// taken to be idle the messages of a stage travel through it together; with the gate of loggp those stages do
// in which messages would wait for one another.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithm.hpp"
#include "machine/engine.hpp"

namespace leadline::machine {

class Stages final : private Listener {
public:
    // `member(i)` is the world rank of the communicator's rank i.
    Stages(const Engine& engine, std::span<const std::int32_t> members);

    // Moves the clocks, one a rank of the communicator, over the whole collective. Returns the tiers that
    // answered.
    std::set<std::string> run(const std::vector<collectives::Stage>& stages, std::vector<Time>& clocks);

private:
    void step(const collectives::Stage& stage, std::vector<Time>& clocks);
    // Returns the largest part by which a message waited for others, where the tier tells.
    double step_through(std::string_view tier, const collectives::Stage& stage, std::vector<Time>& clocks);
    template <class Each>
    void each_message(const collectives::Stage& stage, std::size_t ranks, Each each) const;
    void injected(std::uint32_t, Time) override {}
    void arrived(std::uint32_t token, Time when) override { arrivals_[token] = when; }

    [[nodiscard]] int rank_of(std::size_t member) const {
        return members_.empty() ? static_cast<int>(member) : members_[member];
    }
    // From handing over to the last byte's arrival, on an idle network.
    [[nodiscard]] Time under_way(int from, int to, const Protocol& protocol, std::int64_t bytes) const;
    [[nodiscard]] Time leaves(int from, Time ready, Time busy);

    const Engine& engine_;
    const Machine& machine_;
    std::span<const std::int32_t> members_;  // none: the whole world in order
    std::vector<Time> next_;
    std::vector<Time> engines_;  // when each node's injection engine is free, where ranks share one
    std::vector<Time> arrivals_;
};

}  // namespace leadline::machine
