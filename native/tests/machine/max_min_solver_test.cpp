// Rates of flows that share resources: cases done by hand, the definition itself, and a slow reference.
#include "machine/networks/max_min_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace leadline::machine {
namespace {

// A flow's bound and its uses: a resource's number, and `~number` where it yields.
struct Flow {
    double bound;
    std::vector<int> uses;
};

struct Problem {
    std::vector<double> capacities;
    std::vector<Flow> flows;
};

void pose(const Problem& problem, MaxMinSolver& fluid) {
    fluid.clear();
    for (const double capacity : problem.capacities) fluid.add_resource(capacity);
    for (const Flow& flow : problem.flows) {
        fluid.add_flow(flow.bound);
        for (const int use : flow.uses) fluid.add_use(use < 0 ? ~use : use, use < 0);
    }
}

MaxMinSolver solved(const Problem& problem) {
    MaxMinSolver fluid;
    pose(problem, fluid);
    fluid.solve({});
    return fluid;
}

std::vector<double> rates(const Problem& problem) {
    const MaxMinSolver fluid = solved(problem);
    std::vector<double> all;
    all.reserve(static_cast<std::size_t>(fluid.flows()));
    for (std::int32_t f = 0; f < fluid.flows(); ++f) all.push_back(fluid.rate(f));
    return all;
}

bool on(const Flow& flow, int resource) { return std::ranges::count(flow.uses, resource) > 0; }

// What the flows of one class have of a resource.
double load(const Problem& problem, const std::vector<double>& rate, int use) {
    double sum = 0;
    for (std::size_t f = 0; f < rate.size(); ++f)
        if (on(problem.flows[f], use)) sum += rate[f];
    return sum;
}

// Max-min fairness as it is defined, in small steps of thought: raise all that still rise by as much as the
// first bound or the first resource allows, again and again. Classes do not exist here.
std::vector<double> reference(const Problem& problem) {
    const std::size_t flows = problem.flows.size();
    std::vector<double> rate(flows, 0);
    std::vector<bool> rises(flows, true);
    while (std::ranges::count(rises, true) > 0) {
        double step = 1e300;
        for (std::size_t f = 0; f < flows; ++f)
            if (rises[f]) step = std::min(step, problem.flows[f].bound - rate[f]);
        for (int r = 0; r < static_cast<int>(problem.capacities.size()); ++r) {
            int rising = 0;
            for (std::size_t f = 0; f < flows; ++f) rising += rises[f] && on(problem.flows[f], r);
            const double left = problem.capacities[static_cast<std::size_t>(r)] - load(problem, rate, r);
            if (rising > 0) step = std::min(step, left / rising);
        }
        for (std::size_t f = 0; f < flows; ++f)
            if (rises[f]) rate[f] += step;
        for (std::size_t f = 0; f < flows; ++f) {
            bool full = rate[f] >= problem.flows[f].bound * (1 - 1e-12);
            for (const int r : problem.flows[f].uses) {
                const double capacity = problem.capacities[static_cast<std::size_t>(r)];
                full = full || load(problem, rate, r) >= capacity * (1 - 1e-12);
            }
            if (full) rises[f] = false;
        }
    }
    return rate;
}

// Rules (1) and (2) of the header.
void expect_within_limits(const Problem& problem, const std::vector<double>& rate) {
    for (std::size_t f = 0; f < rate.size(); ++f) {
        EXPECT_GE(rate[f], 0);
        EXPECT_LE(rate[f], problem.flows[f].bound * (1 + 1e-9));
    }
    for (int r = 0; r < static_cast<int>(problem.capacities.size()); ++r) {
        const double capacity = problem.capacities[static_cast<std::size_t>(r)];
        EXPECT_LE(load(problem, rate, r) + load(problem, rate, ~r), capacity * (1 + 1e-9));
    }
}

// Rule (3): the flow has its bound, or a use that is its bottleneck.
bool satisfied(const Problem& problem, const std::vector<double>& rate, std::size_t f) {
    if (rate[f] >= problem.flows[f].bound * (1 - 1e-6)) return true;
    return std::ranges::any_of(problem.flows[f].uses, [&](int use) {
        const int r = use < 0 ? ~use : use;
        const double filled = load(problem, rate, r) + (use < 0 ? load(problem, rate, ~r) : 0);
        if (filled < problem.capacities[static_cast<std::size_t>(r)] * (1 - 1e-6)) return false;
        for (std::size_t g = 0; g < rate.size(); ++g)
            if (on(problem.flows[g], use) && rate[g] > rate[f] * (1 + 1e-6) + 1e-6) return false;
        return true;
    });
}

// Routes along a line of nodes, as a mesh has them: what a flow yields on is the first link of its own.
Problem on_a_line(std::mt19937_64& random, bool yields) {
    Problem problem;
    const auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    const int links = draw(2, 12);
    for (int i = 0; i < links; ++i) problem.capacities.push_back(draw(1, 8));
    for (int f = draw(1, 20); f > 0; --f) {
        const int first = draw(0, links - 1);
        const int last = draw(first, links - 1);
        Flow flow{.bound = draw(0, 1) ? 100.0 : draw(1, 6), .uses = {}};
        for (int r = first; r <= last; ++r) flow.uses.push_back(r == first && yields ? ~r : r);
        problem.flows.push_back(flow);
    }
    return problem;
}

// Nobody else is there: the least of the bound and the capacities, to the bit.
TEST(MaxMinSolver, ALoneFlowHasTheLeastOfItsRoute) {
    EXPECT_EQ(rates({{5, 0.3, 7}, {{100, {0, 1, 2}}}}), (std::vector<double>{0.3}));
    EXPECT_EQ(rates({{5, 7}, {{0.1, {~0, 1}}}}), (std::vector<double>{0.1}));
    EXPECT_EQ(rates({{}, {{0.7, {}}}}), (std::vector<double>{0.7}));
}

// The classical case (Bertsekas and Gallager): one long flow over two links, a short one on each, and a
// second short one on the second. Link 1 (capacity 1) is shared by three: 1/3 each; on link 0 2/3 are left.
TEST(MaxMinSolver, TheLongFlowIsHeldByItsWorstLink) {
    const auto rate = rates({{1, 1}, {{9, {0, 1}}, {9, {0}}, {9, {1}}, {9, {1}}}});
    const std::vector<double> expected{1. / 3, 2. / 3, 1. / 3, 1. / 3};
    for (std::size_t f = 0; f < rate.size(); ++f) EXPECT_NEAR(rate[f], expected[f], 1e-12);
}

// What a bounded flow does not want is shared by the others: (10 - 1) / 2.
TEST(MaxMinSolver, WhatOneDoesNotWantTheOthersShare) {
    EXPECT_EQ(rates({{10}, {{1, {0}}, {99, {0}}, {99, {0}}}}), (std::vector<double>{1, 4.5, 4.5}));
}

// The page of mathematics' own example, with its result f 2, g 4, h 2.
TEST(MaxMinSolver, TheHeadersExampleComesOut) {
    const Problem problem{{6, 6, 6, 4}, {{6, {~0, 1, 2, 3}}, {6, {~1}}, {2, {~2, 3}}}};
    EXPECT_EQ(rates(problem), (std::vector<double>{2, 4, 2}));
}

// Four nested flows towards one end of a line of capacity 1: the outermost is local where nobody comes
// through, takes everything there, and is first on each link where another begins.
TEST(MaxMinSolver, OfNestedFlowsTheOutermostHasAll) {
    const Problem problem{{1, 1, 1, 1}, {{9, {~0, 1, 2, 3}}, {9, {~1, 2, 3}}, {9, {~2, 3}}, {9, {~3}}}};
    EXPECT_EQ(rates(problem), (std::vector<double>{1, 0, 0, 0}));
}

// The same, but the outermost wants 0.25 only, and the second 0.5: the third has what is left on link 2, and
// on link 3 there is nothing left.
TEST(MaxMinSolver, WhoYieldsHasWhatIsLeft) {
    const Problem problem{{1, 1, 1, 1}, {{.25, {~0, 1, 2, 3}}, {.5, {~1, 2, 3}}, {9, {~2, 3}}, {9, {~3}}}};
    EXPECT_EQ(rates(problem), (std::vector<double>{.25, .5, .25, 0}));
}

// A ring of flows over two links each: each yields to its predecessor, so all are alike and share each link
// by halves, though each step of the iteration alone would swing between nothing and all.
TEST(MaxMinSolver, ACircleOfFlowsThatYieldSharesByHalves) {
    Problem problem;
    for (int i = 0; i < 7; ++i) {
        problem.capacities.push_back(4);
        problem.flows.push_back({9, {~i, (i + 1) % 7}});
    }
    const MaxMinSolver fluid = solved(problem);
    EXPECT_TRUE(fluid.settled());
    for (int i = 0; i < 7; ++i) EXPECT_NEAR(fluid.rate(i), 2, 1e-9);
}

// However badly flows hold each other up, something moves: otherwise simulated time would never go on.
TEST(MaxMinSolver, SomebodyAlwaysMoves) {
    for (int rounds = 1; rounds < 6; ++rounds) {
        MaxMinSolver fluid;
        for (int i = 0; i < 5; ++i) fluid.add_resource(4);
        for (int i = 0; i < 5; ++i) {
            fluid.add_flow(9);
            for (int k = 0; k < 3; ++k) fluid.add_use((i + k) % 5, k == 0);
        }
        fluid.solve({.straight = rounds, .rounds = rounds});
        double sum = 0;
        for (int i = 0; i < 5; ++i) sum += fluid.rate(i);
        EXPECT_GT(sum, 0) << rounds;
    }
}

// Without classes there is one max-min answer, and both ways to it agree.
TEST(MaxMinSolver, EqualsProgressiveFillingByItsDefinition) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 500; ++trial) {
        const Problem problem = on_a_line(random, false);
        const auto rate = rates(problem);
        const auto expected = reference(problem);
        expect_within_limits(problem, rate);
        for (std::size_t f = 0; f < rate.size(); ++f) ASSERT_NEAR(rate[f], expected[f], 1e-9) << trial;
    }
}

// With classes each flow has a bottleneck of its class, whenever t comes to rest; which it does but for the
// few draws in which a dozen flows hold each other up.
TEST(MaxMinSolver, EachFlowHasABottleneckOfItsClass) {
    std::mt19937_64 random(2);
    int settled = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const Problem problem = on_a_line(random, true);
        const auto rate = rates(problem);
        expect_within_limits(problem, rate);
        if (!solved(problem).settled()) continue;
        ++settled;
        for (std::size_t f = 0; f < rate.size(); ++f) ASSERT_TRUE(satisfied(problem, rate, f)) << trial;
    }
    EXPECT_GE(settled, 475);
}

// Where circles and engines keep t from rest the answer still respects bounds and capacities.
TEST(MaxMinSolver, NoResourceGivesMoreThanItHas) {
    std::mt19937_64 random(3);
    const auto draw = [&](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
    for (int trial = 0; trial < 500; ++trial) {
        Problem problem;
        const int links = draw(3, 9);
        for (int i = 0; i < links; ++i) problem.capacities.push_back(draw(1, 8));
        for (int f = draw(1, 30); f > 0; --f) {
            const int first = draw(0, links - 1);
            Flow flow{100, {~first}};
            for (int k = draw(0, links - 2); k > 0; --k) flow.uses.push_back((first + k) % links);
            problem.flows.push_back(flow);
        }
        expect_within_limits(problem, rates(problem));
    }
}

// Doubled capacities and bounds double the rates: no size of its own is hidden in the solver. Powers of two,
// so to the bit.
TEST(MaxMinSolver, RatesScaleWithCapacities) {
    std::mt19937_64 random(4);
    for (int trial = 0; trial < 100; ++trial) {
        Problem problem = on_a_line(random, true);
        const auto before = rates(problem);
        for (double& capacity : problem.capacities) capacity *= 2;
        for (Flow& flow : problem.flows) flow.bound *= 2;
        const auto after = rates(problem);
        for (std::size_t f = 0; f < before.size(); ++f) ASSERT_EQ(after[f], 2 * before[f]) << trial;
    }
}

// A route that has a link often, since links stand for one another.
TEST(MaxMinSolver, AUseThatCountsOftenIsAsManyUses) {
    std::mt19937_64 random(6);
    for (int trial = 0; trial < 300; ++trial) {
        const Problem problem = on_a_line(random, trial % 2 == 0);
        MaxMinSolver once;
        MaxMinSolver each;
        for (const double capacity : problem.capacities) {
            once.add_resource(capacity);
            each.add_resource(capacity);
        }
        for (const Flow& flow : problem.flows) {
            once.add_flow(flow.bound);
            each.add_flow(flow.bound);
            for (const int use : flow.uses) {
                const auto times = static_cast<std::uint32_t>(1 + random() % 4);
                const int resource = use < 0 ? ~use : use;
                once.add_use(resource, use < 0, times);
                for (std::uint32_t time = 0; time < times; ++time) each.add_use(resource, use < 0);
            }
        }
        once.solve({});
        each.solve({});
        ASSERT_EQ(once.settled(), each.settled()) << trial;
        for (std::int32_t f = 0; f < once.flows(); ++f)
            ASSERT_NEAR(once.rate(f), each.rate(f), 1e-7) << trial;
    }
}

// 3,000 problems of 300 kinds, some of which meet at one place: to the bit what is found without remembering,
// also with another effort and after others were posed.
TEST(MaxMinSolver, WhatIsRememberedIsWhatWasFound) {
    std::mt19937_64 random(5);
    std::vector<Problem> problems;
    problems.reserve(300);
    for (int kind = 0; kind < 300; ++kind) problems.push_back(on_a_line(random, kind % 2 == 0));
    MaxMinSolver fluid;
    for (int trial = 0; trial < 3000; ++trial) {
        const Problem& problem = problems[random() % problems.size()];
        const MaxMinSolver::Effort effort =
            random() % 2 == 0 ? MaxMinSolver::Effort{} : MaxMinSolver::Effort{.straight = 1, .rounds = 2};
        MaxMinSolver plain;
        pose(problem, plain);
        plain.solve(effort);
        pose(problem, fluid);
        fluid.recall(effort);
        ASSERT_EQ(fluid.rounds(), plain.rounds()) << trial;
        ASSERT_EQ(fluid.settled(), plain.settled()) << trial;
        for (std::int32_t f = 0; f < plain.flows(); ++f) ASSERT_EQ(fluid.rate(f), plain.rate(f)) << trial;
    }
}

}  // namespace
}  // namespace leadline::machine
