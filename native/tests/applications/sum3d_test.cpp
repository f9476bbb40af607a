// How arrays are dealt to a grid of ranks: the loads of the source's tables, and boxes that fill the array.
#include "applications/sum3d/split.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace leadline::sum3d {
namespace {

using Loads = std::vector<std::int64_t>;

// The source's own example, 5 x 5 x 1 on four ranks.
TEST(Split, TwentyFiveElementsAreDealtAsInTheExample) {
    EXPECT_EQ(loads({5, 5, 1}, {4, 1, 1}, false), (Loads{7, 6, 6, 6}));
    EXPECT_EQ(loads({5, 5, 1}, {2, 2, 1}, false), (Loads{7, 6, 6, 6}));
    EXPECT_EQ(loads({5, 5, 1}, {4, 1, 1}, true), (Loads{10, 5, 5, 5}));
    EXPECT_EQ(loads({5, 5, 1}, {2, 2, 1}, true), (Loads{9, 6, 6, 4}));
}

// Tables I to III: of the topologies that do not cut evenly, which of 24 ranks have more; all others have
// 10^6.
TEST(Split, LoadsAreThoseOfTheTables) {
    const auto expect = [](const Lengths& array, const Lengths& grid, auto larger, std::int64_t more,
                           std::int64_t less) {
        const Loads found = loads(array, grid, true);
        for (int rank = 0; rank < 24; ++rank)
            EXPECT_EQ(found[static_cast<std::size_t>(rank)], larger(rank) ? more : less) << rank;
    };
    const auto every_third = [](int rank) { return rank % 3 == 0; };
    const auto two_of_six = [](int rank) { return rank % 6 < 2; };
    const auto four_of_six = [](int rank) { return rank % 6 < 4; };
    const auto two_of_three = [](int rank) { return rank % 3 < 2; };
    const auto first = [](int ranks) { return [ranks](int rank) { return rank < ranks; }; };
    expect({2400, 100, 100}, {8, 3, 1}, every_third, 1'020'000, 990'000);
    expect({2400, 100, 100}, {4, 3, 2}, two_of_six, 1'020'000, 990'000);
    expect({1200, 200, 100}, {8, 3, 1}, two_of_three, 1'005'000, 990'000);
    expect({1200, 200, 100}, {4, 3, 2}, four_of_six, 1'005'000, 990'000);
    expect({800, 300, 100}, {12, 2, 1}, first(16), 1'005'000, 990'000);
    expect({800, 300, 100}, {6, 4, 1}, first(8), 1'005'000, 997'500);
    expect({800, 300, 100}, {6, 2, 2}, first(8), 1'005'000, 997'500);
    // The table has 1,005,000 here, which with the others' 990,000 leaves 120,000 elements to nobody.
    expect({800, 300, 100}, {24, 1, 1}, first(8), 1'020'000, 990'000);
    for (const Lengths& grid : {Lengths{24, 1, 1}, {12, 2, 1}, {8, 3, 1}, {6, 4, 1}, {6, 2, 2}, {4, 3, 2}})
        for (const Lengths& array : {Lengths{2400, 100, 100}, {1200, 200, 100}, {800, 300, 100}})
            EXPECT_EQ(loads(array, grid, false), Loads(24, 1'000'000));
}

// Whatever the grid, each element is in one box, and the groups name each rank once.
TEST(Split, BoxesFillTheArrayOnce) {
    const Lengths array{7, 5, 9};
    for (const Lengths& grid : {Lengths{1, 1, 1}, {7, 1, 1}, {2, 2, 2}, {3, 2, 4}, {1, 5, 2}}) {
        std::vector<int> times(static_cast<std::size_t>(elements(array)));
        std::set<int> ranks;
        for (const Group& group : groups(array, grid))
            for (const Part& part : group.parts) {
                EXPECT_TRUE(ranks.insert(part.peer).second);
                EXPECT_EQ(part.bytes, group.shape.run * group.shape.rows * group.shape.planes);
                for (std::int64_t plane = 0; plane < group.shape.planes; ++plane)
                    for (std::int64_t row = 0; row < group.shape.rows; ++row)
                        for (std::int64_t at = 0; at < group.shape.run; at += 8)
                            ++times.at(static_cast<std::size_t>(part.offset +
                                                                plane * group.shape.plane_stride +
                                                                row * group.shape.row_stride + at) /
                                       8);
            }
        EXPECT_EQ(times, std::vector<int>(times.size(), 1));
        EXPECT_EQ(static_cast<std::int64_t>(ranks.size()), elements(grid));
        EXPECT_LE(groups(array, grid).size(), 8U);
    }
}

TEST(Split, LengthsAreWrittenWithAnX) {
    EXPECT_EQ(lengths_of("2400x100x1"), (Lengths{2400, 100, 1}));
    for (const char* wrong : {"", "5", "5x5", "5x5x", "5x0x1", "5x5x1x1", "5x-5x1", "axbxc", "5x5x1 "})
        EXPECT_THROW(lengths_of(wrong), std::invalid_argument) << wrong;
}

}  // namespace
}  // namespace leadline::sum3d
