// A collective for all ranks of a communicator at once: each stage of its algorithm moves an array of clocks.
//
//   after a stage:  clock'(r) = max(clock(r) + o_s, clock(s) + o_s + L(s, r) + wire(bytes) / R) + o_r
//
// and the time of combining; which is what the engine gives for the same sends and receives on an idle
// network. Where the network is not taken to be idle, ranks share a node, or senders ask first, the messages
// of a stage travel through it together; with the gate of loggp those stages do in which messages would wait
// for one another.
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
    [[nodiscard]] bool by_itself(const collectives::Stage& stage) const;
    [[nodiscard]] const Protocol& protocol(const collectives::Stage& stage) const;  // between nodes
    [[nodiscard]] Time receive_cost(const collectives::Stage& stage, const Protocol& way) const;
    void hand_over(Network& network, std::uint32_t token);
    void finish(const collectives::Stage& stage);
    void injected(std::uint32_t token, Time when) override { calls_[token].left = when; }
    void arrived(std::uint32_t token, Time when) override;

    [[nodiscard]] int rank_of(std::size_t member) const {
        return members_.empty() ? static_cast<int>(member) : members_[member];
    }
    // From handing over to the last byte's arrival, on an idle network.
    [[nodiscard]] Time under_way(int from, int to, const Protocol& protocol, std::int64_t bytes) const;

    // A message of a stage that goes through a network, by its number.
    enum class Leg : std::uint8_t { request, grant, data };
    struct Call {
        const Protocol* way;
        std::int64_t bytes;
        Time there;     // when its receiver comes to the stage
        Time left = 0;  // the sender's memory
        Time arrived = 0;
        std::int32_t from;  // members
        std::int32_t to;
        Leg leg;  // that is next, or under way
    };

    const Engine& engine_;
    const Machine& machine_;
    std::span<const std::int32_t> members_;  // none: the whole world in order
    std::vector<Time> next_;
    std::vector<Time> free_;  // when each rank's last message has left; none: sooner than the next could
    std::vector<Time> left_;  // when each rank's own message had left, where it waits for that
    std::vector<Call> calls_;
    Wheel<std::uint32_t> agenda_;  // legs to be handed over
};

}  // namespace leadline::machine
