// The described machine of a job.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "comm/places.hpp"
#include "comm/sim/communicator.hpp"
#include "comm/sim/control.hpp"
#include "comm/sim/world.hpp"
#include "comm/task.hpp"

namespace leadline {

// The described machine of a job, on which programs are run one after the other.
class Session {
public:
    // Whether time, and what disturbs it, are those of the machine that this runs on.
    static constexpr bool measures = false;
    Session(int&, char**&) {}
    // Takes the "simulate" part of a job. Throws std::invalid_argument for what it cannot be.
    void configure(const nlohmann::json& job);

    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] int size() const { return static_cast<int>(seats_.size()); }
    static void broadcast(std::string&) {}
    static std::vector<double> gather(const std::vector<double>& mine) { return mine; }
    static std::vector<std::string> gather_texts(const std::string& mine) { return {mine}; }
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }  // of the simulator itself
    [[nodiscard]] nlohmann::json facts(const std::vector<std::string>&) const;
    [[nodiscard]] bool exact() const { return !noise_; }

    // Every rank's program, all to their ends. Throws what the first rank threw, or machine::Deadlock.
    template <class Program>
    void run(Program program) {
        begin();
        std::vector<Task<>> tasks;
        tasks.reserve(seats_.size());
        for (int rank = 0; rank < size(); ++rank) {
            tasks.push_back(
                program(Comm(*world_, world_->groups.front(), rank), Control(world_.get(), rank, size())));
            world_->engine.start(rank, tasks.back().handle());
        }
        int failed = -1;
        world_->engine.run([&](int rank) {
            if (!tasks[static_cast<std::size_t>(rank)].failed()) return false;
            failed = rank;
            return true;
        });
        end();
        if (failed >= 0) tasks[static_cast<std::size_t>(failed)].finish();
    }
    // Whether the point must be asked again, since a dearer way of computing it is needed for the truth.
    [[nodiscard]] bool needs_rerun() const { return needs_rerun_; }
    [[nodiscard]] nlohmann::json answered() const;
    [[noreturn]] static void abandon() { std::exit(1); }

private:
    void begin();
    void end();

    std::vector<Place> places_{my_place()};
    machine::Machine machine_;
    std::unique_ptr<machine::Topology> topology_;
    std::vector<machine::Placement> seats_;
    std::string network_ = "auto";
    std::string protocol_ = "default";
    std::uint64_t seed_ = 1;
    bool noise_ = false;
    std::string fallback_tier_;  // the tier to ask the point of anew, where loggp was not the truth
    bool settled_ = false;       // and it stays, whatever messages come
    bool by_messages_ = false;   // and without computing collectives at once, where that was not
    bool needs_rerun_ = false;
    bool messages_only_ = false;  // no collective is ever computed at once
    std::unique_ptr<sim::World> world_;
    std::set<std::string> answered_;
};

}  // namespace leadline
