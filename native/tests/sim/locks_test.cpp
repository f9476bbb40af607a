// Locks of windows: who has a rank's memory, from when on, and that nobody has what excludes another.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "comm/comm.hpp"
#include "testing.hpp"

namespace leadline {
namespace {

using testing_sim::on;
using testing_sim::play;

constexpr double there = 1e-6 + 3.1e-6 + 8e-9;  // the word for a lock: overhead, a link, 8 B
constexpr double back = 3.1e-6 + 8e-9;

struct Held {
    double from;
    double until;
    bool exclusive;
};

// Rank 2 asks half a microsecond after rank 1, which has the memory for 10 us: the word that gives it back
// goes there, and one goes to rank 2.
TEST(Locks, AnExclusiveOneIsGivenOnByWords) {
    std::array<double, 3> has{};
    play(on(3), [&](Comm world, Control control) -> Task<> {
        Window window = co_await world.window(64, Exposure::allocated);
        if (world.rank() > 0) {
            co_await control.busy(world.rank() == 2 ? 0.5e-6 : 0);
            co_await window.lock(0, true);
            has.at(static_cast<std::size_t>(world.rank())) = control.now();
            co_await control.busy(10e-6);
            co_await window.flush(0);
            co_await window.unlock(0, true);
        }
        co_await window.free();
    });
    EXPECT_NEAR(has[1], there + back, 1e-12);
    EXPECT_NEAR(has[2], there + back + 10e-6 + there + back, 1e-12);
}

// Two that share have it at once; who wants it alone waits for both, and who would share it afterwards waits
// for that one.
TEST(Locks, SharedOnesExcludeOnlyExclusiveOnes) {
    std::array<double, 5> has{};
    constexpr std::array begins{0.0, 0.0, 1e-6, 2e-6, 3e-6};  // ranks 1 and 2 share, 3 does not, 4 would
    play(on(5, testing_sim::round_machine(), {5, 1}), [&](Comm world, Control control) -> Task<> {
        Window window = co_await world.window(64, Exposure::allocated);
        const auto me = static_cast<std::size_t>(world.rank());
        if (me > 0) {
            co_await control.busy(begins.at(me));
            co_await window.lock(0, me == 3);
            has.at(me) = control.now();
            co_await control.busy(me == 2 ? 30e-6 : 20e-6);
            co_await window.unlock(0, me == 3);
        }
        co_await window.free();
    });
    constexpr double hop = 1e-7;  // ranks 2 and 3 are one farther away
    EXPECT_NEAR(has[1], there + back, 1e-12);
    EXPECT_NEAR(has[2], 1e-6 + there + back + 2 * hop, 1e-12);
    EXPECT_NEAR(has[3], has[2] + 30e-6 + there + back + 2 * hop, 1e-12);
    EXPECT_NEAR(has[4], has[3] + 20e-6 + there + hop + back, 1e-12);
}

// A rank's own memory is locked without a network.
TEST(Locks, OwnMemoryIsNear) {
    double has = 0;
    play(on(2), [&](Comm world, Control control) -> Task<> {
        Window window = co_await world.window(64, Exposure::allocated);
        if (world.rank() == 1) {
            co_await window.lock(1, true);
            has = control.now();
            co_await window.unlock(1, true);
        }
        co_await window.free();
    });
    EXPECT_NEAR(has, 1e-6, 1e-12);
}

// Whoever asks when, and for what: an exclusive one overlaps no other of the same memory, and each is had in
// the end.
TEST(Locks, NobodyHasWhatAnotherHasAlone) {
    constexpr int ranks = 6;
    constexpr int turns = 20;
    for (unsigned seed = 1; seed <= 10; ++seed) {
        std::array<std::vector<Held>, ranks> held;
        play(on(ranks), [&](Comm world, Control control) -> Task<> {
            std::minstd_rand draw(100 * seed + static_cast<unsigned>(world.rank()));
            Window window = co_await world.window(64, Exposure::allocated);
            for (int turn = 0; turn < turns; ++turn) {
                const int target = static_cast<int>(draw() % 2);
                const bool exclusive = draw() % 3 == 0;
                co_await control.busy(1e-9 * static_cast<double>(draw() % 20'000));
                co_await window.lock(target, exclusive);
                const double from = control.now();
                co_await control.busy(1e-9 * static_cast<double>(draw() % 5'000));
                held.at(static_cast<std::size_t>(target)).push_back({from, control.now(), exclusive});
                co_await window.unlock(target, exclusive);
            }
            co_await window.free();
        });
        std::size_t all = 0;
        for (std::vector<Held>& of_one : held) {
            all += of_one.size();
            std::ranges::sort(of_one, {}, &Held::from);
            double until = 0;  // of all before
            double alone = 0;  // of those that exclude
            for (const Held& each : of_one) {
                EXPECT_GE(each.from, each.exclusive ? until : alone);
                until = std::max(until, each.until);
                if (each.exclusive) alone = std::max(alone, each.until);
            }
        }
        EXPECT_EQ(all, static_cast<std::size_t>(ranks * turns));
    }
}

}  // namespace
}  // namespace leadline
