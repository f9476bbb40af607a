// An algorithm as each rank's own program: which messages it sends and receives in which stage, in order.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithm.hpp"

namespace leadline::collectives {

class Program {
public:
    static constexpr std::int32_t nobody = -1;

    // What a rank does in a stage; in a local one it copies, and names nobody.
    struct Step {
        std::int32_t stage = 0;
        std::int32_t to = nobody;
        std::int32_t from = nobody;
    };

    Program(std::vector<Stage> stages, std::int32_t ranks);

    [[nodiscard]] const std::vector<Stage>& stages() const { return stages_; }
    // Of all ranks together.
    [[nodiscard]] std::int64_t messages() const;
    // Whether messages of one stage differ in their bytes.
    [[nodiscard]] bool uneven() const;
    // Whether every rank does in it, seen from itself, what every other does: by ranks' numbers, or along the
    // axes of a lattice.
    [[nodiscard]] bool moves(bool along_axes) const;
    [[nodiscard]] const Stage& stage(const Step& step) const {
        return stages_[static_cast<std::size_t>(step.stage)];
    }

    // One rank's way through the program.
    class Walk {
    public:
        Walk(const Program& program, std::int32_t rank);
        // The rank's next step; false after its last.
        bool next(Step& step);

    private:
        const Program& program_;
        std::int32_t rank_;
        std::size_t pattern_ = 0;  // of patterns_, the next one
        std::size_t row_;          // of listed_, the next one
    };

private:
    // What a rank does in a stage with a pattern; a step that names nobody where it has no part.
    [[nodiscard]] Step by_pattern(std::int32_t number, std::int32_t rank) const;
    void list();

    std::vector<Stage> stages_;
    std::int32_t ranks_;
    std::vector<std::int32_t> patterns_;  // stages that are told of all ranks at once, or local
    std::vector<Step> listed_;            // steps of listed stages, rank by rank
    std::vector<std::size_t> begin_;      // of a rank's in listed_; none: there are no listed stages
    std::vector<std::size_t> end_;
};

}  // namespace leadline::collectives
