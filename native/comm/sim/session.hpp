// The described machine of a job.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
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

    // Writes the messages of collectives that `asked` names (listing.cpp says how). Throws
    // std::invalid_argument for what it cannot be.
    void list_collectives(const nlohmann::json& asked, std::ostream& out);

    [[nodiscard]] static int rank() { return 0; }
    [[nodiscard]] int size() const { return static_cast<int>(placements_.size()); }
    static void broadcast(std::string&) {}
    static std::vector<double> gather(const std::vector<double>& mine) { return mine; }
    static std::vector<std::string> gather_texts(const std::string& mine) { return {mine}; }
    [[nodiscard]] const std::vector<Place>& places() const { return places_; }
    [[nodiscard]] nlohmann::json facts(const std::vector<std::string>&) const;
    [[nodiscard]] bool exact() const { return !noise_; }

    // Every rank's program, all to their ends. Throws what the first rank threw, or machine::Deadlock. Where
    // `period` is not 0, every rank does what the rank does that is so many before it, seen from itself; then
    // it may be that some are played for all.
    template <class Program>
    void run(Program program, int period = 0) {
        begin(period);
        try {
            play(program);
        } catch (const machine::Asymmetric& asymmetric) {
            needs_rerun_ = true;
            refused_ = asymmetric.along_axes ? 1 : 2;
        }
    }
    // Whether the point must be asked again, since a dearer way of computing it is needed for the truth.
    [[nodiscard]] bool needs_rerun() const { return needs_rerun_; }
    [[nodiscard]] nlohmann::json answered() const;
    [[noreturn]] static void abandon() { std::exit(1); }

private:
    template <class Program>
    void play(Program& program) {
        std::vector<Task<>> tasks;
        const int players = world_->engine.players();
        tasks.reserve(static_cast<std::size_t>(players));
        for (int rank = 0; rank < players; ++rank) {
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
    void begin(int period);
    void end();
    [[nodiscard]] bool may_play_some(const std::string& network) const;
    [[nodiscard]] const machine::Symmetry* symmetry_of(int period);

    std::vector<Place> places_{1};  // one process, and where it runs is no matter
    machine::Machine machine_;
    std::unique_ptr<machine::Topology> topology_;
    std::vector<machine::Placement> placements_;
    std::string network_ = "auto";
    std::string protocol_ = "default";
    std::uint64_t seed_ = 1;
    bool noise_ = false;
    std::string fallback_tier_;  // the tier to ask the point of anew, where loggp was not the truth
    bool settled_ = false;       // and it stays, whatever messages come
    bool by_messages_ = false;   // and without computing collectives at once, where that was not
    bool needs_rerun_ = false;
    bool messages_only_ = false;  // no collective is ever computed at once
    int refused_ = 0;             // symmetries that the point has not; 1: by numbers, 2: nor along axes
    int least_played_ = 4'096;    // fewer ranks are all played
    std::map<int, std::optional<machine::Symmetry>> symmetries_;  // by period; along axes: 0
    std::unique_ptr<sim::World> world_;
    std::set<std::string> answered_;
};

}  // namespace leadline
