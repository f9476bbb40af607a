// A collective for all ranks of a communicator at once: each stage of its algorithm moves an array of clocks.
//
//   after a stage:  clock'(r) = max(clock(r) + o_s, clock(s) + o_s + L(s, r) + wire(bytes) / R) + o_r
//
// and the time of combining; which is what the engine gives for the same sends and receives on an idle
// network. Where the network is not taken to be idle, ranks share a node, or senders ask first, the messages
// of a stage travel through it together; with the gate of loggp those stages do in which messages would wait
// for one another. Several communicators that do theirs at the same time go through it stage by stage
// together.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithm.hpp"
#include "machine/engine.hpp"
#include "machine/network.hpp"
#include "machine/wheel.hpp"

namespace leadline::machine {

class Stages final : private Listener {
public:
    explicit Stages(const Engine& engine) : engine_(engine), machine_(engine.machine()) {}

    // What a communicator does, and the clocks of its ranks.
    struct Part {
        std::span<const std::int32_t> members;  // world ranks; none: the whole world in order
        std::vector<Time>* clocks;
        std::vector<collectives::Stage> stages;
    };
    // Moves the clocks of all over the whole collective. Returns the tiers that answered.
    std::set<std::string> run(std::span<const Part> parts);

    // Blocks of varying sizes from each rank to the root, or from the root to each.
    struct Block {
        std::int32_t rank;
        std::int64_t bytes;
    };
    // The root sends in turn: each message once the one before has left, as blocking sends do.
    std::set<std::string> scatter(const Part& part, std::int32_t root, std::span<const Block> blocks);
    // All send; the root receives in turn.
    std::set<std::string> gather(const Part& part, std::int32_t root, std::span<const Block> blocks);

    // Whether nothing that communicators do at the same time makes a difference to one another.
    [[nodiscard]] static bool alone(const Engine& engine, std::int64_t bytes);

private:
    // One communicator of those that run together.
    struct Reach {
        const collectives::Stage* stage;
        std::size_t start;  // of its ranks among all
        std::size_t ranks;
    };
    // A message that goes through a network, by its number.
    enum class Leg : std::uint8_t { request, grant, data };
    struct Call {
        const Protocol* way;
        std::int64_t bytes;
        std::int64_t wire;  // bytes of it and of those that travel with it
        Time there;         // when its receiver comes to the stage
        Time ready = 0;     // to be handed over
        Time left = 0;      // the sender's memory
        Time arrived = 0;
        std::int32_t from;  // members
        std::int32_t to;
        std::uint32_t with = none;  // the next one that travels with it
        Leg leg;                    // that is next, or under way
        bool combines;
        bool rides = false;  // travels with another
        bool taken = false;  // by a root that receives in turn
    };
    enum class Turn : std::uint8_t { none, sends, receives };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    void take(std::span<const Part> parts);
    void give_back(std::span<const Part> parts);
    [[nodiscard]] std::string pass(const std::vector<Reach>& all);
    void step(const Reach& reach);
    void copy(const Reach& reach);
    template <class Each>
    void each_message(const Reach& reach, Each each) const {
        collectives::each_message(*reach.stage, static_cast<std::int32_t>(reach.ranks),
                                  [&](auto from, auto to) {
                                      each(reach.start + static_cast<std::size_t>(from),
                                           reach.start + static_cast<std::size_t>(to));
                                  });
    }
    [[nodiscard]] bool by_itself(const Reach& reach) const;
    [[nodiscard]] const Protocol& protocol(const Reach& reach) const;  // between nodes

    // Through a network. Return the largest part by which a message waited for others, where the tier tells.
    double step_through(std::string_view tier, const std::vector<Reach>& all);
    double exchange(std::string_view tier);
    void call(std::size_t from, std::size_t to, std::int64_t bytes, bool combines);
    void travel_together();
    void finish();
    void hand_over(Network& network, std::uint32_t token);
    void begin(std::uint32_t token);
    void injected(std::uint32_t token, Time when) override;
    void arrived(std::uint32_t token, Time when) override;
    std::set<std::string> in_turn(const Part& part, std::int32_t root, std::span<const Block> blocks,
                                  Turn turn);
    [[nodiscard]] std::size_t window() const { return 1 + static_cast<std::size_t>(machine_.node.ahead); }
    [[nodiscard]] Time start_cost(const Call& call) const;
    // When a rank that is free from `free` on has taken up what came, and combined it.
    [[nodiscard]] Time taken(const Call& call, Time free) const;

    [[nodiscard]] int rank_of(std::size_t member) const {
        return members_.empty() ? static_cast<int>(member) : members_[member];
    }
    [[nodiscard]] int node_of(std::int32_t member) const {
        return engine_.seat(rank_of(static_cast<std::size_t>(member))).node;
    }

    const Engine& engine_;
    const Machine& machine_;
    std::span<const std::int32_t> members_;  // of all parts; none: the whole world in order
    std::vector<std::int32_t> together_;     // they, of several parts
    std::vector<Time> clocks_;
    std::vector<Time> next_;
    std::vector<Time> free_;  // when each rank's last message has left; none: sooner than the next could
    std::vector<Time> left_;  // when each rank's own message had left, where it waits for that
    std::vector<Call> calls_;
    std::vector<std::uint32_t> order_;  // scratch of travel_together()
    struct Passed {
        std::size_t from;
        std::size_t to;
        Time arrived;
    };
    std::vector<Passed> passed_;   // scratch of step()
    Wheel<std::uint32_t> agenda_;  // legs to be handed over
    Turn turn_ = Turn::none;
};

}  // namespace leadline::machine
