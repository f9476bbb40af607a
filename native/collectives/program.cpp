#include "collectives/program.hpp"

#include <algorithm>
#include <utility>

#include "collectives/pieces.hpp"

namespace leadline::collectives {

Program::Program(std::vector<Stage> stages, std::int32_t ranks) : stages_(std::move(stages)), ranks_(ranks) {
    for (std::size_t i = 0; i < stages_.size(); ++i)
        if (stages_[i].pattern != Stage::Pattern::listed) patterns_.push_back(static_cast<std::int32_t>(i));
    if (patterns_.size() < stages_.size()) list();
}

bool Program::moves(bool along_axes) const {
    using enum Stage::Pattern;
    return std::ranges::all_of(stages_, [&](const Stage& each) {
        return each.pattern == local || (each.pattern == shift && (each.along != nullptr) == along_axes);
    });
}

bool Program::uneven() const {
    return std::ranges::any_of(stages_, [](const Stage& each) { return static_cast<bool>(each.holds); });
}

std::int64_t Program::messages() const {
    std::int64_t all = 0;
    for (const Stage& stage : stages_) all += collectives::messages(stage, ranks_);
    return all;
}

// The messages of listed stages, dealt to their two ranks: as many as there are, however many stages and
// ranks.
void Program::list() {
    const auto each = [&](auto take) {
        for (std::size_t i = 0; i < stages_.size(); ++i)
            if (stages_[i].pattern == Stage::Pattern::listed)
                each_message(stages_[i], ranks_, [&](std::int32_t from, std::int32_t to) {
                    take(static_cast<std::int32_t>(i), from, to);
                });
    };
    std::vector<std::size_t> most(static_cast<std::size_t>(ranks_) + 1);
    each([&](std::int32_t, std::int32_t from, std::int32_t to) {
        ++most[static_cast<std::size_t>(from) + 1];
        ++most[static_cast<std::size_t>(to) + 1];
    });
    for (std::size_t rank = 1; rank < most.size(); ++rank) most[rank] += most[rank - 1];
    listed_.resize(most.back());
    begin_.assign(most.begin(), most.end() - 1);
    end_ = begin_;
    const auto step = [&](std::int32_t stage, std::int32_t rank) -> Step& {
        const auto at = static_cast<std::size_t>(rank);
        if (end_[at] == begin_[at] || listed_[end_[at] - 1].stage != stage)
            listed_[end_[at]++] = {.stage = stage};
        return listed_[end_[at] - 1];
    };
    each([&](std::int32_t stage, std::int32_t from, std::int32_t to) {
        step(stage, from).to = to;
        step(stage, to).from = from;
    });
}

Program::Step Program::by_pattern(std::int32_t number, std::int32_t rank) const {
    const Stage& stage = stages_[static_cast<std::size_t>(number)];
    Step step{.stage = number};
    if (stage.pattern == Stage::Pattern::shift) {
        const Shift shift{stage.along, ranks_, stage.by};
        step.to = shift.to(rank);
        step.from = shift.from(rank);
        if (stage.along && step.to == rank) step = {.stage = number};
    }
    if (stage.pattern == Stage::Pattern::exchange) {
        const std::int32_t place = modulo(static_cast<std::int64_t>(rank) - stage.first, ranks_);
        if (place % stage.step != 0 || place / stage.step >= stage.ranks) return step;
        const std::int64_t other = place / stage.step ^ stage.by;
        step.to = step.from = modulo(stage.first + other * stage.step, ranks_);
    }
    return step;
}

Program::Walk::Walk(const Program& program, std::int32_t rank)
    : program_(program),
      rank_(rank),
      row_(program.begin_.empty() ? 0 : program.begin_[static_cast<std::size_t>(rank)]) {}

bool Program::Walk::next(Step& step) {
    const std::size_t rows = program_.end_.empty() ? 0 : program_.end_[static_cast<std::size_t>(rank_)];
    for (;;) {
        const bool patterns = pattern_ < program_.patterns_.size();
        if (!patterns && row_ >= rows) return false;
        if (!patterns || (row_ < rows && program_.listed_[row_].stage < program_.patterns_[pattern_])) {
            step = program_.listed_[row_++];
            return true;
        }
        step = program_.by_pattern(program_.patterns_[pattern_++], rank_);
        if (step.to != nobody || program_.stage(step).pattern == Stage::Pattern::local) return true;
    }
}

}  // namespace leadline::collectives
