// Rates of flows that share resources as fluid: mathematics alone, without time, routes or messages.
//
// Given are resources r with capacities C_r > 0 and flows f, each with a bound b_f and with uses of
// resources, of one perhaps several, which the sums below count each. A use is of one of two classes: it
// `goes first`, or it `yields` to those that go first. Wanted are rates x_f. Write F_r for the flows that go
// first at r, Y_r for those that yield there, x(S) for the sum of x over S. Then
//
//     (1)  0 <= x_f <= b_f                     for each flow,
//     (2)  x(F_r) + x(Y_r) <= C_r              for each resource,
//     (3)  each flow with x_f < b_f has a bottleneck: a use of r where its own class and the class before it
//          fill the resource, and where nobody of its own class has more than it:
//            f in F_r:  x(F_r) = C_r              and x_f >= x_g for all g in F_r, or
//            f in Y_r:  x(F_r) + x(Y_r) = C_r     and x_f >= x_g for all g in Y_r.
//
// Without yielding uses this is max-min fairness, which has one answer (Bertsekas and Gallager, Data
// Networks, 1992, section 6.5.2), found by progressive filling: raise all rates alike; when a resource is
// full, its flows stay as they are and the others go on.
//
// With yielding uses: let t_r stand for x(F_r). If t were known, what is left, C_r - t_r, would be a capacity
// of its own for Y_r, and the rest plain max-min over the constraints x(F_r) <= C_r and x(Y_r) <= C_r - t_r.
// So
//
//     t := as much as F_r could want, at most C_r;
//     repeat: x := progressive filling; t' := x(F); until t' = t; t := t'.
//
// Several answers may satisfy (3); to begin with the greatest t chooses the one where those that go first are
// held back by nobody, as in a network where they never wait. Where flows yield to each other in a circle t
// swings: it then moves half-way to t' only, later less. If t has still not come to rest when the rounds are
// spent, the flows that yield are cut back where (2) is violated, which leaves (1) and (2) true and a little
// of the resources unused. Where t swings by more than that, or nobody would move, the two classes share as
// one.
//
// Example: resources A, B, C of capacity 6 in a line. f uses A yielding, B and C first; g uses B yielding; h
// uses C yielding and has a bound of 2; all other bounds are 6, and D of capacity 4 is used by f and h, both
// first.
//     t = (0, 6, 6): g and h get nothing; f is held by D to 4.      t' = (0, 4, 4)
//     t = (0, 4, 4): g <= 2, h <= 2; f and h share D, 2 each; g 2.  t' = (0, 2, 2)
//     t = (0, 2, 2): g <= 4, h <= 4; f and h share D, 2 each; g 4.  t' = (0, 2, 2), the answer: f 2, g 4,
//     h 2.
// Bottlenecks: of f and h D, 2 + 2 = 4; of g what f leaves of B, 2 + 4 = 6.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace leadline::machine {

class MaxMinSolver {
public:
    // How long to look for t: rounds before it moves by less than the whole way, and rounds altogether.
    struct Effort {
        int straight = 16;
        int rounds = 96;
        friend bool operator==(const Effort&, const Effort&) = default;
    };

    void clear();
    // Numbered 0, 1, ... in the order of the calls.
    // `first` is a guess of t_r; negative: what F_r could want.
    std::int32_t add_resource(double capacity, double first = -1);
    // The last t_r, as a guess for the next time.
    [[nodiscard]] double first(std::int32_t resource) const { return guess_[index(resource)]; }
    std::int32_t add_flow(double bound);
    // A use by the flow that was added last, or so many of the same resource.
    void add_use(std::int32_t resource, bool yields, std::uint32_t times = 1);

    void solve(Effort effort);
    // The same, but what was lately solved is remembered: in a regular pattern every node poses the problem
    // of its neighbour. To the last bit what solve() gives.
    void recall(Effort effort);
    [[nodiscard]] double rate(std::int32_t flow) const { return rate_[index(flow)]; }
    [[nodiscard]] std::int32_t flows() const { return static_cast<std::int32_t>(bound_.size()); }
    // Whether t came to rest in the last solve(), and after how many rounds of filling.
    [[nodiscard]] bool settled() const { return settled_; }
    [[nodiscard]] int rounds() const { return rounds_; }
    // What recall() had to solve so far: uses that were filled, in all rounds.
    [[nodiscard]] double work() const { return work_; }

private:
    // Constraint 2 r is x(F_r) <= C_r, constraint 2 r + 1 is x(Y_r) <= C_r - t_r.
    using Constraint = std::int32_t;
    struct State {
        double left = 0;        // capacity that no settled flow has
        std::int32_t open = 0;  // uses by flows that are not settled
    };
    struct Uses {
        Constraint constraint = 0;
        std::int32_t times = 1;
        friend bool operator==(const Uses&, const Uses&) = default;
    };

    // A problem and its answer.
    struct Solved {
        std::vector<double> capacity;
        std::vector<double> guess;
        std::vector<double> bound;
        std::vector<std::int32_t> begin;
        std::vector<Uses> uses;
        Effort effort;
        std::vector<double> rate;
        std::vector<double> first;
        bool settled = false;
        int rounds = 0;
    };

    static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] std::size_t place() const;
    [[nodiscard]] bool poses(const Solved& other, Effort effort) const;
    void skip_repeats(Effort effort);
    void invert();
    void fill();
    void settle(std::int32_t flow, double rate);
    void settle_constraint(Constraint constraint, double share);
    [[nodiscard]] double share(Constraint constraint) const;
    void limit();
    double measure(double step);
    void cut();
    [[nodiscard]] bool stuck() const;
    void share_alike();

    std::vector<double> capacity_;          // of resources
    std::vector<double> guess_;             // of t_r, of resources
    std::vector<double> bound_;             // of flows
    std::vector<std::int32_t> begin_;       // of a flow's uses in uses_; one more than flows when solved
    std::vector<Uses> uses_;                // flow by flow
    std::vector<std::int32_t> user_begin_;  // of a constraint's flows in users_
    std::vector<std::int32_t> users_;       // constraint by constraint
    std::vector<std::int32_t> by_bound_;    // flows, smallest bound first
    std::vector<std::int32_t> shared_;      // resources where both classes are
    std::vector<double> first_;             // t_r of those
    std::vector<double> before_, earlier_;  // those of the rounds before
    std::vector<double> given_;             // what those that yield there may have
    std::vector<std::int32_t> all_uses_;    // of constraints
    std::vector<double> wanted_;            // of constraints, by flows that only their bounds hold back
    std::vector<State> state_;              // of constraints
    std::vector<double> rate_;              // of flows; negative while it is not settled
    std::int32_t open_ = 0;                 // flows that are not
    std::vector<std::pair<double, Constraint>> heap_;  // shares, smallest first; true or too small
    bool settled_ = true;
    int rounds_ = 0;
    double work_ = 0;
    std::vector<Solved> solved_;  // each at the place that its numbers give, where the last one stays
};

}  // namespace leadline::machine
