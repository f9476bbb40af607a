// Very many flows at once that yield to each other in circles: nothing is left idle that a flow could use.
#include "machine/networks/approximate_max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace leadline::machine {
namespace {

constexpr std::int32_t links = 600;
constexpr double capacity = 100;

// A ring of links: the flow of node n goes over `hops(n)` of them from its own on, where it yields to those
// that pass. Every link is passed first by others, which yield elsewhere.
class Ring {
public:
    template <class Hops>
    explicit Ring(Hops hops) {
        pool_.reset(links);
        for (std::int32_t n = 0; n < links; ++n) {
            const int far = hops(n);
            pool_.add(n, capacity);
            for (int i = 0; i < far; ++i) pool_.add_use((n + i) % links, capacity, i == 0);
            hops_.push_back(far);
        }
    }
    // As the tier solves a new pool.
    void solve() {
        for (int i = 0; i < 6; ++i) pool_.solve({});
    }
    [[nodiscard]] double rate(std::int32_t flow) const { return pool_.rate(flow); }
    [[nodiscard]] std::vector<double> used() const {
        std::vector<double> all(links);
        for (std::int32_t n = 0; n < links; ++n)
            for (int i = 0; i < hops_[static_cast<std::size_t>(n)]; ++i)
                all[static_cast<std::size_t>((n + i) % links)] += rate(n);
        return all;
    }
    // Of the fullest link on the flow's way.
    [[nodiscard]] double fullest(std::int32_t flow, const std::vector<double>& used) const {
        double most = 0;
        for (int i = 0; i < hops_[static_cast<std::size_t>(flow)]; ++i)
            most = std::max(most, used[static_cast<std::size_t>((flow + i) % links)]);
        return most;
    }

private:
    ApproximateMaxMin pool_;
    std::vector<int> hops_;
};

// All alike: each has its part of every link that it is on, and so the ring is full.
TEST(ApproximateMaxMin, AlikeFlowsOfARingShareIt) {
    for (const int far : {2, 3, 4, 8, 12}) {
        Ring ring([far](std::int32_t) { return far; });
        ring.solve();
        for (std::int32_t n = 0; n < links; ++n) EXPECT_NEAR(ring.rate(n), capacity / far, 1e-3 * capacity);
    }
}

// Ways of 1 to 9 links: no link gives more than it has, and nearly all flows have one on their way that is
// full but for a tenth.
TEST(ApproximateMaxMin, WhatAFlowCouldUseIsNotLeftIdle) {
    Ring ring([](std::int32_t n) { return 1 + 7 * n % 9; });
    ring.solve();
    const std::vector<double> used = ring.used();
    EXPECT_LE(std::ranges::max(used), capacity * (1 + 1e-6));
    int held = 0;
    for (std::int32_t n = 0; n < links; ++n)
        if (ring.fullest(n, used) >= 0.9 * capacity) ++held;
    EXPECT_GE(held, links * 95 / 100);
}

}  // namespace
}  // namespace leadline::machine
