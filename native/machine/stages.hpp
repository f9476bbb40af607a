// A collective for all ranks of a communicator at once: each stage of its algorithm moves an array of clocks.
//
//   after a stage:  clock'(r) = max(clock(r) + o_s, clock(s) + o_s + L(s, r) + wire(bytes) / R) + o_r
//
// and the time of combining. It is a short cut: what a collective takes is what its messages take, and this
// is only taken where it gives the same to the picosecond, which it proves as it goes. Nothing else may be
// under way; and
//   - where every message has its node's engines to itself: no message finds an engine or a port in use, and
//     under `auto` none can meet another on a link, which is known without a route;
//   - else, where the messages of a stage travel through a network of their own: what they use is free again
//     before the first message of the next stage is handed over.
// Where that does not hold it says so, and the messages are played one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/algorithm.hpp"
#include "machine/engine.hpp"
#include "machine/event_queue.hpp"
#include "machine/network.hpp"

namespace leadline::machine {

// Until when collectives that were computed at once keep the engines and ports of nodes: a bound for all, and
// of each rank where they are known (by ranks of the world).
struct Kept {
    Time out = 0;
    Time in = 0;
    std::vector<Time> outs{};
    std::vector<Time> ins{};
};

class Stages final : private Listener {
public:
    Stages(const Engine& engine, Kept& kept) : engine_(engine), machine_(engine.machine()), kept_(kept) {}

    // What a communicator does, and the clocks of its ranks.
    struct CommunicatorStages {
        std::span<const std::int32_t> members;  // world ranks; none: the whole world in order
        std::vector<Time>* clocks;
        const std::vector<collectives::Stage>* stages;
    };
    // Moves the clocks of all over the whole collective, and what is kept with them. Returns the tiers that
    // answered; nothing where the messages could give other times, and then nothing has moved.
    std::optional<std::set<std::string>> run(std::span<const CommunicatorStages> parts);

private:
    // One communicator of those that run together.
    struct StageInstance {
        const collectives::Stage* stage;
        std::size_t start;  // of its ranks among all
        std::size_t ranks;
    };
    // A message that goes through a network, by its number.
    enum class Leg : std::uint8_t { request, grant, data };
    struct StageMessage {
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
    };
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    void take(std::span<const CommunicatorStages> parts);
    void give_back(std::span<const CommunicatorStages> parts);
    [[nodiscard]] bool pass_all(std::span<const CommunicatorStages> parts);
    [[nodiscard]] bool pass(const std::vector<StageInstance>& all);
    void copy(const StageInstance& reach);
    template <class Each>
    void each_message(const StageInstance& reach, Each each) const {
        collectives::each_message(*reach.stage, static_cast<std::int32_t>(reach.ranks),
                                  [&](auto from, auto to) {
                                      each(reach.start + static_cast<std::size_t>(from),
                                           reach.start + static_cast<std::size_t>(to));
                                  });
    }

    // Each message by itself. False where one may find what it needs in use.
    struct Costs;  // of the messages of a stage
    [[nodiscard]] bool by_itself(const StageInstance& reach) const;
    [[nodiscard]] bool exchanges_all(const collectives::Stage& stage) const;  // each rank with another
    [[nodiscard]] bool alike(const StageInstance& reach) const;
    [[nodiscard]] bool meet_nobody(const std::vector<StageInstance>& all) const;
    [[nodiscard]] const Protocol& protocol(const StageInstance& reach) const;  // between nodes
    [[nodiscard]] bool step(const StageInstance& reach);
    [[nodiscard]] bool step_level(const Costs& costs);
    [[nodiscard]] bool step_exchange(const StageInstance& reach, const Costs& costs);
    void unlevel();
    [[nodiscard]] bool begins_after(Time first_start) const;
    void know_each();

    // Through a network.
    void choose_tier(std::span<const CommunicatorStages> parts);
    [[nodiscard]] bool step_through(const std::vector<StageInstance>& all);
    [[nodiscard]] double attempt(std::string_view tier, const std::vector<StageInstance>& all);
    double exchange(std::string_view tier);
    void call(std::size_t from, std::size_t to, std::int64_t bytes, bool combines);
    void travel_together();
    void finish();
    void hand_over(Network& network, std::uint32_t token);
    void injected(std::uint32_t token, Time when) override;
    void arrived(std::uint32_t token, Time when) override;

    [[nodiscard]] int rank_of(std::size_t member) const {
        return members_.empty() ? static_cast<int>(member) : members_[member];
    }
    [[nodiscard]] int node_of(std::int32_t member) const {
        return engine_.placement(rank_of(static_cast<std::size_t>(member))).node;
    }

    const Engine& engine_;
    const Machine& machine_;
    Kept& kept_;
    Kept before_;                            // what was kept when it began
    std::string_view contended_tier_;        // of its messages where they wait for one another
    bool through_ = false;                   // a stage of a network of its own was not free
    bool each_ = false;                      // what each rank keeps is known, in kept_
    std::span<const std::int32_t> members_;  // of all parts; none: the whole world in order
    std::vector<std::int32_t> together_;     // they, of several parts
    std::vector<Time> clocks_;
    std::optional<Time> level_;  // what all clocks are, where they are one; then clocks_ are not kept
    std::size_t ranks_ = 0;      // how many there are
    std::vector<Time> next_;
    std::vector<Time> left_;  // when each rank's own message had left, where it waits for that
    std::set<std::string> answered_;
    std::vector<StageMessage> calls_;
    std::vector<std::uint32_t> order_;  // scratch of travel_together()
    struct Passed {
        std::size_t from;
        std::size_t to;
        Time start;
        Time arrived;
    };
    std::vector<Passed> passed_;        // scratch of step()
    EventQueue<std::uint32_t> agenda_;  // legs to be handed over
    Time first_ = never;                // of the calls, when the first was handed over
    Time clear_ = 0;                    // until when they used the network
    bool waited_ = false;               // whether one may have waited for another in it
};

}  // namespace leadline::machine
