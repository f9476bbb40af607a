// Rates of very many flows at once: those of max_min_solver.hpp, in few walks through memory.
//
// A resource's share is what it has left, divided by those that have no rate yet; a flow can count on the
// least of its bound and its shares, since shares only grow while others get their rates. Progressive filling
// gives out one share after another, the smallest first. Here a round gives out all shares that are greater
// than the smallest by no more than a part, `slack`: each flow of theirs has what it can count on. So the
// rounds are few. What is left to those that yield may be next to nothing, and does not count as the
// smallest; they have it in the first round. Whoever is left over when they are spent has what it can count
// on then. Whatever the slack and the rounds, no resource gives more than it has.
//
// What those that go first leave to those that yield is known from the solution before: t of
// max_min_solver.hpp. It moves towards what it has come out as, the less the fewer of a resource's flows
// yield: of a ring whose flows are alike, each over h links, x' = C - (h - 1) x comes to rest at C / h in one
// step of 1 / h. Where those that go first leave less this time, those that yield are cut; and where t still
// swings, what that leaves of the resources is given out once more, to both classes alike.
//
// The arrays stay between the calls: flows come at the end, those that have gone are left out at the next
// turn. Tests hold the result against max_min_solver.hpp.
#pragma once

#include <cstdint>
#include <vector>

namespace leadline::machine {

class ApproximateMaxMin {
public:
    using Member = std::int32_t;
    struct Effort {
        int rounds = 8;
        float slack = 0.2F;
    };

    // Resources 0 .. resources - 1, without members.
    void reset(std::int32_t resources);
    // A flow, by its owner's number; its uses follow. Members are numbered in order.
    Member add(std::int32_t owner, double bound);
    // A use by the flow that was added last.
    void add_use(std::int32_t resource, double capacity, bool yields);
    void remove(Member member);
    // Leaves out those that have gone, where they are many; the others are numbered anew, in the same order.
    void tidy();

    void solve(Effort effort);

    [[nodiscard]] Member members() const { return static_cast<Member>(owner_.size()); }
    [[nodiscard]] std::int32_t alive() const { return alive_; }
    // Negative when the flow has gone.
    [[nodiscard]] std::int32_t owner(Member member) const { return owner_[index(member)]; }
    [[nodiscard]] double rate(Member member) const { return rate_[index(member)]; }
    // Resources that a flow used since reset().
    [[nodiscard]] const std::vector<std::int32_t>& touched() const { return touched_; }

private:
    // The flows of one class at a resource: number r goes first there, resources() + r yields.
    struct Class {
        double left = 0;  // B/s that nobody has yet
        std::int32_t open = 0;
        std::int32_t all = 0;
    };
    static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
    void limit(bool alike);
    void fill(Effort effort);
    float divide();
    void give(float up_to);
    [[nodiscard]] float hope(std::size_t member) const;
    [[nodiscard]] std::size_t resources() const { return capacity_.size(); }
    [[nodiscard]] std::size_t class_of(std::uint32_t use) const {
        return alike_ && use >= resources() ? use - resources() : use;
    }
    bool finish();
    void top_up();

    std::vector<double> capacity_;  // of resources
    std::vector<double> first_;     // B/s that go first, as last known; of resources
    std::vector<Class> classes_;
    std::vector<float> share_;  // of classes, for each flow that is open
    std::vector<float> part_;   // of resources: what those that yield have of what they were given
    std::vector<std::int32_t> touched_;
    std::size_t sorted_ = 0;           // how many of those are in the order of memory
    std::vector<std::size_t> active_;  // classes where a flow is open
    std::vector<std::int32_t> owner_;  // of members
    std::vector<double> bound_;        // of members
    std::vector<float> want_;          // of members
    std::vector<double> rate_;         // of members
    std::vector<std::size_t> begin_;   // of a member's uses
    std::vector<std::uint32_t> uses_;  // numbers of classes
    std::vector<Member> open_;         // without a rate yet
    std::int32_t alive_ = 0;
    bool swings_ = false;   // t moved much in the present solution
    bool topping_ = false;  // what is left is given out, beside the rates that are there
    bool alike_ = false;    // both classes share as one, in the present solution
};

}  // namespace leadline::machine
