#include "comm/sim/session.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "machine/mapping.hpp"
#include "machine/network.hpp"

namespace leadline {

void Session::configure(const nlohmann::json& job) {
    if (!job.is_object()) throw std::invalid_argument("the job names no machine to simulate");
    machine_ = machine::parse_machine(job.at("machine"));
    topology_ = machine::make_topology(job.at("topology"));
    const int ranks = job.at("ranks").get<int>();
    network_ = job.value("network", network_);
    protocol_ = job.value("protocol", protocol_);
    seed_ = job.value("seed", seed_);
    messages_only_ = job.value("collectives", "auto") == "messages";
    least_played_ = job.value("least_played", least_played_);
    noise_ = job.value("noise", false) && machine_.noise.present;
    placements_ = sim::place_ranks(machine_, *topology_, ranks, job.value("mapping", std::string("XYZT")),
                                   job.value("placement", std::string("default")));
}

nlohmann::json Session::facts(const std::vector<std::string>&) const {
    return {{"library", "leadline-sim"}, {"machine", machine_.name}, {"nodes", topology_->nodes()}};
}

// Machines on which what a rank does leaves nothing behind that its number or its place on the node would
// tell.
bool Session::may_play_some(const std::string& network) const {
    const machine::Node& node = machine_.node;
    const auto remembers = [](const machine::Protocol& each) {
        return each.one_way || each.crossing_latency > 0;
    };
    return size() >= least_played_ && !noise_ && network != "packet" && !node.loggops &&
           node.rendezvous_credits == 0 && machine_.cold.empty() && !machine_.any_protocol(remembers);
}

// The first that the point may have: that of numbers, then, of a program that is the same after each rank,
// that along the axes.
const machine::Symmetry* Session::symmetry_of(int period) {
    for (const int kind : {period, 0}) {
        if (kind == 0 && (period != 1 || refused_ != 1)) return nullptr;
        const auto [found, isnew] = symmetries_.try_emplace(kind);
        if (isnew)
            found->second = kind > 0 ? machine::Symmetry::find(*topology_, placements_, kind)
                                     : machine::Symmetry::by_axes(*topology_, placements_);
        if (kind > 0 && !found->second) refused_ = std::max(refused_, 1);
        if (found->second && refused_ == (kind > 0 ? 0 : 1)) return &*found->second;
    }
    return nullptr;
}

void Session::begin(int period) {
    const bool automatic = network_ == "auto";
    const std::string network = !automatic ? network_ : fallback_tier_.empty() ? "loggp" : fallback_tier_;
    const machine::Symmetry* symmetry = nullptr;
    if (period > 0 && may_play_some(network)) symmetry = symmetry_of(period);
    needs_rerun_ = false;
    world_ = std::make_unique<sim::World>(
        machine_, *topology_, symmetry && symmetry->along_axes() ? symmetry->renumbered() : placements_,
        machine::Conditions{
            .network = network,
            .track_contention = automatic && fallback_tier_.empty(),
            .automatic = automatic,
            .settled = settled_,
            .by_messages = by_messages_ || messages_only_ || noise_ || symmetry || machine_.node.loggops,
            .seed = seed_,
            .noise = noise_,
            .protocol = protocol_,
            .symmetry = symmetry});
}

void Session::end() {
    answered_ = world_->answered;
    if (world_->engine.messages() > 0) answered_.insert(world_->engine.conditions().network);
    if (world_->engine.conditions().symmetry) answered_.insert("symmetry");
    const sim::Engine& engine = world_->engine;
    const std::string& network = engine.conditions().network;
    const auto messages = static_cast<std::int64_t>(engine.messages());
    // A run that was stopped has seen few of the point's messages: each rank is taken to send one at least.
    const machine::Symmetry* symmetry = engine.conditions().symmetry;
    const std::int64_t all = symmetry ? messages * symmetry->ranks() / symmetry->players() : messages;
    const std::int64_t bytes = engine.bytes() / std::max<std::int64_t>(messages, 1);
    const auto by_size =
        machine::playable_by_packets(machine_, *topology_, bytes, world_->announced)
            ? machine::tier_under_contention(machine_, *topology_, bytes, std::max<std::int64_t>(all, size()))
            : "flow";
    // What was begun as long messages and is short ones in the end is asked of packets, which then stand.
    settled_ = !fallback_tier_.empty() && !engine.spoiled() && network == "flow" && messages > 0 &&
               by_size != network;
    needs_rerun_ = engine.spoiled() || engine.contended() || settled_;
    if (engine.spoiled()) by_messages_ = true;
    else if (needs_rerun_) fallback_tier_ = by_size;
    if (needs_rerun_) return;
    refused_ = 0;
    fallback_tier_.clear();
    by_messages_ = false;
}

nlohmann::json Session::answered() const {
    std::string tiers;
    for (const auto& tier : answered_) tiers += (tiers.empty() ? "" : "+") + tier;
    return {{"network", tiers}};
}

}  // namespace leadline
