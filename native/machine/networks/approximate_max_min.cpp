#include "machine/networks/approximate_max_min.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace leadline::machine {
namespace {

// Shares are floats, and rounded down by more than a float's rounding.
constexpr double margin = 1 - 2e-7;

// Where all rates together are below this part of the smallest bound, nobody moves.
constexpr double moving = 1e-3;

// By how much of a capacity t may still move to be taken as known.
constexpr double swinging = 0.05;

}  // namespace

void ApproximateMaxMin::reset(std::int32_t resources) {
    capacity_.assign(index(resources), 0);
    first_.assign(index(resources), 0);
    part_.assign(index(resources), 1);
    classes_.assign(2 * index(resources), {});
    share_.assign(2 * index(resources), 0);
    touched_.clear();
    sorted_ = 0;
    owner_.clear();
    bound_.clear();
    want_.clear();
    rate_.clear();
    begin_.assign(1, 0);
    uses_.clear();
    alive_ = 0;
}

ApproximateMaxMin::Member ApproximateMaxMin::add(std::int32_t owner, double bound) {
    owner_.push_back(owner);
    bound_.push_back(bound);
    want_.push_back(0);
    rate_.push_back(0);
    begin_.push_back(uses_.size());
    ++alive_;
    return members() - 1;
}

void ApproximateMaxMin::add_use(std::int32_t resource, double capacity, bool yields) {
    const auto use = static_cast<std::uint32_t>(index(resource) + (yields ? resources() : 0));
    if (capacity_[index(resource)] == 0) {
        capacity_[index(resource)] = capacity;
        touched_.push_back(resource);
    }
    ++classes_[use].all;
    uses_.push_back(use);
    begin_.back() = uses_.size();
}

void ApproximateMaxMin::remove(Member member) {
    owner_[index(member)] = -1;
    --alive_;
    for (std::size_t use = begin_[index(member)]; use < begin_[index(member) + 1]; ++use)
        --classes_[uses_[use]].all;
}

void ApproximateMaxMin::tidy() {
    if (alive_ > members() - members() / 16) return;
    std::size_t to = 0;
    std::size_t use = 0;
    for (std::size_t m = 0; m < owner_.size(); ++m) {
        if (owner_[m] < 0) continue;
        const std::size_t from = begin_[m];
        const std::size_t end = begin_[m + 1];
        std::copy(uses_.begin() + static_cast<std::ptrdiff_t>(from),
                  uses_.begin() + static_cast<std::ptrdiff_t>(end),
                  uses_.begin() + static_cast<std::ptrdiff_t>(use));
        owner_[to] = owner_[m];
        bound_[to] = bound_[m];
        want_[to] = want_[m];
        rate_[to] = rate_[m];
        begin_[to++] = use;
        use += end - from;
    }
    owner_.resize(to);
    bound_.resize(to);
    want_.resize(to);
    rate_.resize(to);
    begin_.resize(to + 1);
    begin_[to] = use;
    uses_.resize(use);
}

void ApproximateMaxMin::solve(Effort effort) {
    limit(false);
    fill(effort);
    if (finish()) {
        if (swings_) top_up();
        return;
    }
    // Nobody moves, or only by what rounding left, since all yield to each other: the two classes share as
    // one.
    limit(true);
    fill(effort);
    finish();
}

// What each class may have: those that yield what the others are known to leave; where all are `alike`, the
// first class has the flows of both.
void ApproximateMaxMin::limit(bool alike) {
    alike_ = alike;
    const auto fresh = touched_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    std::sort(fresh, touched_.end());  // what is new is little beside what was there
    std::inplace_merge(touched_.begin(), fresh, touched_.end());
    sorted_ = touched_.size();
    for (const std::int32_t r : touched_) {
        Class& first = classes_[index(r)];
        Class& yields = classes_[resources() + index(r)];
        const double all = capacity_[index(r)];
        first.left = all;
        yields.left = all - first_[index(r)];
        first.open = first.all + (alike ? yields.all : 0);
        yields.open = alike ? 0 : yields.all;
    }
    // What holds nobody back, even if all had the largest bound, is not looked at again.
    const double most = bound_.empty() ? 0 : *std::ranges::max_element(bound_);
    active_.clear();
    const auto look_at = [&](std::size_t i) {
        const Class& of = classes_[i];
        if (of.open == 0) return;
        if (of.left * margin < of.open * most) active_.push_back(i);
        else share_[i] = std::numeric_limits<float>::max();
    };
    for (const std::int32_t r : touched_) look_at(index(r));
    for (const std::int32_t r : touched_) look_at(resources() + index(r));
    open_.clear();
    for (Member m = 0; m < members(); ++m)
        if (owner(m) >= 0) open_.push_back(m);
}

void ApproximateMaxMin::fill(Effort effort) {
    for (int round = 0; round < effort.rounds && !open_.empty(); ++round) give(divide() * (1 + effort.slack));
    divide();
    give(std::numeric_limits<float>::max());
}

// The share of each class; the least of those that go first.
float ApproximateMaxMin::divide() {
    std::erase_if(active_, [&](std::size_t i) { return classes_[i].open == 0; });
    float least = std::numeric_limits<float>::max();
    for (const std::size_t i : active_) {
        const Class& of = classes_[i];
        share_[i] = static_cast<float>(std::max(0.0, of.left) / of.open * margin);
        if (share_[i] > 0 && i < resources()) least = std::min(least, share_[i]);
    }
    return least;
}

// What a flow can count on.
float ApproximateMaxMin::hope(std::size_t member) const {
    auto least = static_cast<float>(topping_ ? bound_[member] - rate_[member] : bound_[member]);
    for (std::size_t use = begin_[member]; use < begin_[member + 1]; ++use)
        least = std::min(least, share_[class_of(uses_[use])]);
    return least;
}

// Gives what they can count on to those for whom that is no more than so much.
void ApproximateMaxMin::give(float up_to) {
    std::size_t stay = 0;
    for (const Member m : open_) {
        const float rate = hope(index(m));
        if (rate > up_to) {
            open_[stay++] = m;
            continue;
        }
        want_[index(m)] = rate;
        for (std::size_t use = begin_[index(m)]; use < begin_[index(m) + 1]; ++use) {
            Class& of = classes_[class_of(uses_[use])];
            of.left -= rate;
            --of.open;
        }
    }
    open_.resize(stay);
}

// The rates; whether anybody moves. Those that yield are cut to what the others leave.
bool ApproximateMaxMin::finish() {
    swings_ = false;
    for (const std::int32_t r : touched_) {
        const Class& goes = classes_[index(r)];
        double& first = first_[index(r)];
        const double all = capacity_[index(r)];
        if (alike_) {
            const Class& yields = classes_[resources() + index(r)];
            first = all * goes.all / std::max(1, goes.all + yields.all);
            part_[index(r)] = 1;
            continue;
        }
        const double given = all - first - classes_[resources() + index(r)].left;
        part_[index(r)] =
            given > goes.left ? static_cast<float>(std::max(0.0, goes.left / given) * margin) : 1;
        const double moves = all - goes.left - first;
        swings_ = swings_ || std::abs(moves) > swinging * all;
        const int yield = classes_[resources() + index(r)].all;
        first += moves * std::max(1, yield) / std::max(1, goes.all + yield);
    }
    double sum = 0;
    double least = std::numeric_limits<double>::max();
    for (std::size_t m = 0; m < owner_.size(); ++m) {
        if (owner_[m] < 0) continue;
        float part = 1;
        for (std::size_t use = begin_[m]; use < begin_[m + 1]; ++use)
            if (uses_[use] >= resources()) part = std::min(part, part_[uses_[use] - resources()]);
        // Who has the bound has it to the bit.
        const double rate = want_[m] >= static_cast<float>(bound_[m]) ? bound_[m] : want_[m];
        sum += rate_[m] = rate * part;
        least = std::min(least, bound_[m]);
    }
    return sum > moving * least;
}

// What is left of the resources where t has not come to rest goes to whoever can have it, of either class.
void ApproximateMaxMin::top_up() {
    for (const std::int32_t r : touched_) {
        Class& both = classes_[index(r)];
        both.left = capacity_[index(r)];
        both.open = 0;
    }
    open_.clear();
    for (Member m = 0; m < members(); ++m) {
        if (owner(m) < 0) continue;
        const bool wants = rate_[index(m)] < bound_[index(m)] * margin;
        if (wants) open_.push_back(m);
        for (std::size_t use = begin_[index(m)]; use < begin_[index(m) + 1]; ++use) {
            Class& both = classes_[uses_[use] % resources()];
            both.left -= rate_[index(m)];
            both.open += wants ? 1 : 0;
        }
    }
    active_.clear();
    for (const std::int32_t r : touched_)
        if (classes_[index(r)].open > 0) active_.push_back(index(r));
    alike_ = topping_ = true;
    fill({.rounds = 0, .slack = 0});
    topping_ = false;
    for (Member m = 0; m < members(); ++m)
        if (owner(m) >= 0 && rate_[index(m)] < bound_[index(m)] * margin) rate_[index(m)] += want_[index(m)];
}

}  // namespace leadline::machine
