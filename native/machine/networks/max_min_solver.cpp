#include "machine/networks/max_min_solver.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

namespace leadline::machine {
namespace {

// Below this part of a capacity a difference is rounding.
constexpr double rounding = 1e-10;

// By how much of a capacity t may still move when the rounds are spent, for (3) to hold nearly.
constexpr double swings = 0.05;

// Where all rates together are below this part of the smallest bound, nobody moves.
constexpr double moving = 1e-3;

// Problems that are remembered, a power of two: a halo has some dozens at a time.
constexpr std::size_t remembered = 1024;

// Mixes numbers into one, after Fowler, Noll and Vo, word by word and folded.
class Mixed {
public:
    void add(std::uint64_t word) {
        value_ = (value_ ^ word) * 0x100000001B3;
        value_ ^= value_ >> 29;
    }
    void add(const std::vector<double>& numbers) {
        for (const double each : numbers) add(std::bit_cast<std::uint64_t>(each));
    }
    void add(const std::vector<std::int32_t>& numbers) {
        for (const std::int32_t each : numbers) add(static_cast<std::uint64_t>(each));
    }
    template <class Two>
    void add(const std::vector<Two>& pairs) {
        for (const Two& each : pairs) add(std::bit_cast<std::uint64_t>(each));
    }
    [[nodiscard]] std::uint64_t value() const { return value_ ^ (value_ >> 32); }

private:
    std::uint64_t value_ = 0xCBF29CE484222325;
};

// How far t moves after a round: all the way, later half of it, and less each time that half did not do.
int halvings(int round, int straight) { return std::min(round / straight, 4); }

// Constraints that are few are looked through for the smallest share; more are a heap.
constexpr std::size_t few = 24;

}  // namespace

void MaxMinSolver::clear() {
    capacity_.clear();
    guess_.clear();
    bound_.clear();
    begin_.clear();
    uses_.clear();
}

std::int32_t MaxMinSolver::add_resource(double capacity, double first) {
    guess_.push_back(first);
    capacity_.push_back(capacity);
    return static_cast<std::int32_t>(capacity_.size()) - 1;
}

std::int32_t MaxMinSolver::add_flow(double bound) {
    bound_.push_back(bound);
    begin_.push_back(static_cast<std::int32_t>(uses_.size()));
    return static_cast<std::int32_t>(bound_.size()) - 1;
}

void MaxMinSolver::add_use(std::int32_t resource, bool yields, std::uint32_t times) {
    uses_.push_back({2 * resource + (yields ? 1 : 0), static_cast<std::int32_t>(times)});
}

void MaxMinSolver::solve(Effort effort) {
    begin_.push_back(static_cast<std::int32_t>(uses_.size()));
    invert();
    settled_ = false;
    double far = 0;
    before_.clear();
    for (rounds_ = 0; !settled_ && rounds_ < effort.rounds;) {
        limit();
        fill();
        earlier_.swap(before_);
        before_ = first_;
        ++rounds_;
        far = shared_.empty() ? 0 : measure(std::ldexp(1, -halvings(rounds_, effort.straight)));
        settled_ = far <= rounding;
        if (!settled_ && first_ == earlier_) skip_repeats(effort);
    }
    if (!settled_) cut();
    begin_.pop_back();
    if (far > swings || stuck()) share_alike();
}

// Where t is what it was two rounds ago it will be again, as long as it moves as far: an even number of
// rounds changes nothing.
void MaxMinSolver::skip_repeats(Effort effort) {
    const int level = halvings(rounds_, effort.straight);
    if (halvings(rounds_ - 1, effort.straight) != level) return;
    while (rounds_ + 2 <= effort.rounds && halvings(rounds_ + 2, effort.straight) == level) rounds_ += 2;
}

// Flows that yield to each other in a circle, where no t was found: as if there were one class.
void MaxMinSolver::share_alike() {
    MaxMinSolver alike;
    for (const double capacity : capacity_) alike.add_resource(capacity);
    for (std::size_t f = 0; f < bound_.size(); ++f) {
        alike.add_flow(bound_[f]);
        const std::size_t end = f + 1 < begin_.size() ? index(begin_[f + 1]) : uses_.size();
        for (std::size_t i = index(begin_[f]); i < end; ++i)
            alike.add_use(uses_[i].constraint / 2, false, static_cast<std::uint32_t>(uses_[i].times));
    }
    alike.solve({});
    rate_ = alike.rate_;
}

std::size_t MaxMinSolver::place() const {
    Mixed mixed;
    mixed.add(capacity_);
    mixed.add(bound_);
    mixed.add(begin_);
    mixed.add(uses_);
    return mixed.value() % remembered;
}

bool MaxMinSolver::poses(const Solved& other, Effort effort) const {
    return effort == other.effort && uses_ == other.uses && begin_ == other.begin && bound_ == other.bound &&
           capacity_ == other.capacity && guess_ == other.guess;
}

void MaxMinSolver::recall(Effort effort) {
    solved_.resize(remembered);
    Solved& known = solved_[place()];
    if (poses(known, effort)) {
        rate_ = known.rate;
        guess_ = known.first;
        settled_ = known.settled;
        rounds_ = known.rounds;
        return;
    }
    known.capacity = capacity_;
    known.guess = guess_;
    known.bound = bound_;
    known.begin = begin_;
    known.uses = uses_;
    known.effort = effort;
    solve(effort);
    work_ += static_cast<double>(rounds_) * static_cast<double>(uses_.size());
    known.rate = rate_;
    known.first = guess_;
    known.settled = settled_;
    known.rounds = rounds_;
}

// The flows of each constraint, the flows by their bounds, and where the two classes meet.
void MaxMinSolver::invert() {
    const std::size_t constraints = 2 * capacity_.size();
    user_begin_.assign(constraints + 1, 0);
    all_uses_.assign(constraints, 0);
    for (const Uses& each : uses_) {
        ++user_begin_[index(each.constraint) + 1];
        all_uses_[index(each.constraint)] += each.times;
    }
    std::partial_sum(user_begin_.begin(), user_begin_.end(), user_begin_.begin());
    users_.resize(uses_.size());
    std::vector<std::int32_t> at(user_begin_.begin(), user_begin_.end() - 1);
    wanted_.assign(constraints, 0);
    for (std::int32_t f = 0; f < flows(); ++f)
        for (std::int32_t i = begin_[index(f)]; i < begin_[index(f) + 1]; ++i) {
            const auto [c, times] = uses_[index(i)];
            users_[index(at[index(c)]++)] = f;
            wanted_[index(c)] += bound_[index(f)] * times;
        }
    by_bound_.resize(bound_.size());
    std::iota(by_bound_.begin(), by_bound_.end(), 0);
    const auto bound = [&](std::int32_t f) { return bound_[index(f)]; };
    if (!std::ranges::is_sorted(by_bound_, {}, bound)) std::ranges::stable_sort(by_bound_, {}, bound);
    shared_.clear();
    first_.clear();
    for (std::int32_t r = 0; index(r) < capacity_.size(); ++r) {
        const auto* from = &user_begin_[2 * index(r)];
        if (from[0] == from[1] || from[1] == from[2]) continue;
        const double guess = guess_[index(r)];
        shared_.push_back(r);
        first_.push_back(std::min(guess < 0 ? wanted_[2 * index(r)] : guess, capacity_[index(r)]));
    }
}

// Sets what each constraint may give: what t leaves to those that yield.
void MaxMinSolver::limit() {
    state_.resize(2 * capacity_.size());
    given_.resize(shared_.size());
    for (std::size_t c = 0; c < state_.size(); ++c)
        state_[c] = {.left = capacity_[c / 2], .open = all_uses_[c]};
    for (std::size_t i = 0; i < shared_.size(); ++i) {
        const double all = capacity_[index(shared_[i])];
        const double left = all - first_[i];
        state_[2 * index(shared_[i]) + 1].left = given_[i] = left > rounding * all ? left : 0;
    }
}

double MaxMinSolver::share(Constraint constraint) const {
    const State& state = state_[index(constraint)];
    return std::max(0.0, state.left) / state.open;
}

void MaxMinSolver::settle(std::int32_t flow, double rate) {
    rate_[index(flow)] = rate;
    --open_;
    for (std::int32_t i = begin_[index(flow)]; i < begin_[index(flow) + 1]; ++i) {
        const Uses& uses = uses_[index(i)];
        State& state = state_[index(uses.constraint)];
        state.left -= rate * uses.times;
        state.open -= uses.times;
    }
}

void MaxMinSolver::settle_constraint(Constraint constraint, double share) {
    for (std::int32_t i = user_begin_[index(constraint)]; i < user_begin_[index(constraint) + 1]; ++i)
        if (const std::int32_t f = users_[index(i)]; rate_[index(f)] < 0) settle(f, share);
}

// Progressive filling, from one full constraint to the next. A share only grows while others are settled, so
// that the heap's key is never too large, and it is corrected when it comes to the top.
void MaxMinSolver::fill() {
    rate_.assign(bound_.size(), -1);
    open_ = flows();
    heap_.clear();
    for (Constraint c = 0; index(c) < state_.size(); ++c)
        if (state_[index(c)].open > 0) heap_.emplace_back(share(c), c);
    const bool heap = heap_.size() > few;
    if (heap) std::ranges::make_heap(heap_, std::greater{});
    std::size_t bounded = 0;
    while (open_ > 0 && !heap_.empty()) {
        const auto least = heap ? heap_.begin() : std::ranges::min_element(heap_);
        const auto [key, c] = *least;
        for (; bounded < by_bound_.size(); ++bounded) {
            const std::int32_t f = by_bound_[bounded];
            if (bound_[index(f)] > key) break;
            if (rate_[index(f)] < 0) settle(f, bound_[index(f)]);
        }
        if (heap) std::ranges::pop_heap(heap_, std::greater{});
        else std::swap(*least, heap_.back());
        const bool open = state_[index(c)].open > 0;
        if (const double now = open ? share(c) : 0; now > key * (1 + rounding)) {
            heap_.back().first = now;
            if (heap) std::ranges::push_heap(heap_, std::greater{});
            continue;
        }
        heap_.pop_back();
        if (open) settle_constraint(c, key);
    }
    for (; bounded < by_bound_.size(); ++bounded)
        if (const std::int32_t f = by_bound_[bounded]; rate_[index(f)] < 0)
            rate_[index(f)] = bound_[index(f)];
}

// Moves t towards what the flows that go first have, by a part of the way; the greatest difference from what
// it was, as a part of the capacity.
double MaxMinSolver::measure(double step) {
    double most = 0;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
        const double capacity = capacity_[index(shared_[i])];
        const double now = capacity - state_[2 * index(shared_[i])].left;
        most = std::max(most, std::abs(now - first_[i]) / capacity);
        first_[i] += step * (now - first_[i]);
        guess_[index(shared_[i])] = first_[i];
    }
    return most;
}

// Cuts the flows that yield back to what is left of each resource. Whoever gets less takes less elsewhere
// too, so that no resource is filled by it.
void MaxMinSolver::cut() {
    std::vector<double> factor(capacity_.size(), 1);
    bool any = false;
    for (std::size_t i = 0; i < shared_.size(); ++i) {
        const std::size_t r = index(shared_[i]);
        const double left = std::max(0.0, state_[2 * r].left);
        const double yielding = given_[i] - state_[2 * r + 1].left;
        if (yielding <= left) continue;
        factor[r] = left / yielding;
        any = true;
    }
    for (std::size_t f = 0; any && f < rate_.size(); ++f) {
        double least = 1;
        for (std::int32_t i = begin_[f]; i < begin_[f + 1]; ++i)
            if (const Constraint c = uses_[index(i)].constraint; c % 2 != 0)
                least = std::min(least, factor[index(c / 2)]);
        rate_[f] *= least;
    }
}

// A resource that is full, or a flow that has its bound, makes the sum far greater.
bool MaxMinSolver::stuck() const {
    return !rate_.empty() &&
           std::reduce(rate_.begin(), rate_.end()) <= moving * bound_[index(by_bound_.front())];
}

}  // namespace leadline::machine
