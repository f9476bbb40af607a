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
    noise_ = job.value("noise", false) && machine_.noise.present;
    seats_ = sim::take_seats(machine_, *topology_, ranks, job.value("mapping", std::string("XYZT")),
                             job.value("placement", std::string("default")));
}

nlohmann::json Session::facts(const std::vector<std::string>&) const {
    return {{"library", "leadline-sim"}, {"machine", machine_.name}, {"nodes", topology_->nodes()}};
}

void Session::begin() {
    const bool automatic = network_ == "auto";
    world_ = std::make_unique<sim::World>(
        machine_, *topology_, seats_,
        machine::Conditions{.network = !automatic               ? network_
                                       : fallback_tier_.empty() ? "loggp"
                                                                : fallback_tier_,
                            .track_contention = automatic && fallback_tier_.empty(),
                            .automatic = automatic,
                            .settled = settled_,
                            .by_messages = by_messages_ || messages_only_ || noise_,
                            .seed = seed_,
                            .noise = noise_,
                            .protocol = protocol_});
}

void Session::end() {
    answered_ = world_->answered;
    if (world_->engine.messages() > 0) answered_.insert(world_->engine.conditions().network);
    const sim::Engine& engine = world_->engine;
    const std::string& network = engine.conditions().network;
    const auto messages = static_cast<std::int64_t>(engine.messages());
    const auto by_size = machine::tier_under_contention(machine_, *topology_, engine.bytes(), messages);
    // What was begun as long messages and is short ones in the end is asked of packets, which then stand.
    settled_ = !fallback_tier_.empty() && !engine.spoiled() && network == "flow" && messages > 0 &&
               by_size != network;
    needs_rerun_ = engine.spoiled() || engine.contended() || settled_;
    if (engine.spoiled()) by_messages_ = true;
    else if (needs_rerun_) fallback_tier_ = by_size;
    if (needs_rerun_) return;
    fallback_tier_.clear();
    by_messages_ = false;
}

nlohmann::json Session::answered() const {
    std::string tiers;
    for (const auto& tier : answered_) tiers += (tiers.empty() ? "" : "+") + tier;
    return {{"network", tiers}};
}

}  // namespace leadline
