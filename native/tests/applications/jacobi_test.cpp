// Jacobi's sweeps: every kernel gives the bits of the plain triple loop, blocked in time or not, and what
// sequential sweeps give is what the closed form says.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "applications/jacobi/division.hpp"
#include "applications/jacobi/field.hpp"
#include "applications/jacobi/rows.hpp"
#include "applications/jacobi/solution.hpp"

namespace leadline::jacobi {
namespace {

using Row = std::span<double>;

// Numbers without any order, the same each time.
void fill(Field& field) {
    std::mt19937 random(1);
    field.fill([&](Index, Index, Row row) {
        for (double& each : row) each = static_cast<double>(random()) * 1e-9;
    });
}

// Points in which two fields differ.
Index different(const Field& a, const Field& b, const Triple& lengths) {
    Index count = 0;
    for (Index z = 0; z < lengths[0]; ++z)
        for (Index y = 0; y < lengths[1]; ++y)
            for (std::size_t x = 0; x < static_cast<std::size_t>(lengths[2]); ++x)
                count += static_cast<Index>(a.row(z, y)[x] != b.row(z, y)[x]);
    return count;
}

struct Case {
    Triple lengths;
    Index depth;
};

class Kernels : public testing::TestWithParam<Case> {};

// Long rows, so that a block is of a few of them and there are several.
INSTANTIATE_TEST_SUITE_P(Depths, Kernels,
                         testing::Values(Case{{5, 7, 9}, 1}, Case{{3, 2, 1}, 3}, Case{{6, 9, 17}, 2},
                                         Case{{7, 40, 5000}, 5}, Case{{2, 33, 70}, 8}));

TEST_P(Kernels, GiveTheBitsOfTheTripleLoop) {
    const auto [lengths, depth] = GetParam();
    Field plain({.lengths = lengths});
    fill(plain);
    for (Index sweep = 0; sweep < 2 * depth; ++sweep) plain.sweeps(Kernel::plain);
    for (const Kernel kernel : {Kernel::blocked, Kernel::streaming}) {
        Field field({.lengths = lengths, .depth = depth});
        fill(field);
        for (int twice = 0; twice < 2; ++twice) field.sweeps(kernel);
        EXPECT_EQ(different(plain, field, lengths), 0);
    }
}

// Rows that begin anywhere in a vector and end anywhere in another.
TEST(Rows, OfEveryKindAreTheSame) {
    std::vector<double> from(std::size_t{5} * 64);
    std::mt19937 random(2);
    for (double& each : from) each = static_cast<double>(random());
    const auto row = [&](std::size_t number) { return from.data() + 64 * number + 8; };
    for (std::size_t each = 0; each < kinds(); ++each)
        for (std::ptrdiff_t begin = 0; begin < 9; ++begin)
            for (std::ptrdiff_t count = 0; count < 30; ++count) {
                const Stencil stencil{row(0) + begin, row(1) + begin, row(2) + begin,
                                      row(3) + begin, row(4) + begin, row(0)};
                std::vector<double> plain(64);
                std::vector<double> updated(64);
                std::vector<double> streamed(64);
                std::vector<double> copied(64);
                kind(0).update(plain.data() + begin, stencil, count);
                kind(each).update(updated.data() + begin, stencil, count);
                kind(each).stream(streamed.data() + begin, stencil, count);
                kind(each).copy(copied.data() + begin, plain.data() + begin, count);
                EXPECT_EQ(plain, updated) << kind(each).name;
                EXPECT_EQ(plain, streamed) << kind(each).name;
                EXPECT_EQ(plain, copied) << kind(each).name;
            }
}

// Stacks of planes of three rows, which lie apart as in a grid; what is not in them stays.
TEST(Rows, OfStacksAreThoseOfSinglePlanes) {
    constexpr std::ptrdiff_t row = 64;
    constexpr std::ptrdiff_t plane = 3 * row;
    std::vector<double> from(std::size_t{7} * plane);
    std::mt19937 random(3);
    for (double& each : from) each = static_cast<double>(random());
    for (std::size_t each = 0; each < kinds(); ++each)
        for (const std::ptrdiff_t planes : {1, 4, 5})
            for (std::ptrdiff_t begin = 1; begin < 18; ++begin)
                for (std::ptrdiff_t count = 0; count < 40; count += 3) {
                    const Stack stack{planes, row, plane};
                    const std::ptrdiff_t at = plane + row + begin;
                    std::vector<double> singly(from.size());
                    std::vector<double> stacked(from.size());
                    for (std::ptrdiff_t i = 0; i < planes; ++i)
                        kind(0).update(singly.data() + at + i * plane,
                                       stencil_at(from.data() + at + i * plane, stack), count);
                    kind(each).stream_stack(stacked.data() + at, from.data() + at, stack, count);
                    EXPECT_EQ(singly, stacked) << kind(each).name;
                }
}

TEST(Rows, AreDividedIntoEvenBlocks) {
    EXPECT_EQ(block_rows(8, 3, 7), 7);                // all at once where they fit
    EXPECT_EQ(block_rows(Index{1} << 30, 3, 10), 4);  // never fewer than the least: 4, 4 and 2
    EXPECT_EQ(block_rows(Index{1} << 30, 3, 9), 3);   // rather 3, 3 and 3
}

TEST(Solution, IsWhatSequentialSweepsGive) {
    const Triple lengths{9, 12, 10};
    const Solution solution(lengths, {}, lengths, false);
    Field field({.lengths = lengths});
    field.fill([&](Index z, Index y, Row row) { solution.row(0, z, y, row); });
    constexpr int sweeps = 40;
    for (int sweep = 0; sweep < sweeps; ++sweep) field.sweeps(Kernel::plain);
    std::vector<double> row(10);
    double worst = 0;
    for (Index z = 0; z < lengths[0]; ++z)
        for (Index y = 0; y < lengths[1]; ++y) {
            solution.row(sweeps, z, y, row);
            for (std::size_t x = 0; x < row.size(); ++x)
                worst = std::max(worst, std::abs(row[x] - field.row(z, y)[x]));
        }
    EXPECT_LT(worst, Solution::rounding(sweeps));
}

// A single number that a halo did not bring is far beyond what rounding does.
TEST(Solution, TellsAWrongHalo) {
    const Triple grid{8, 8, 16};
    const Triple half{8, 8, 8};
    const Solution solution(grid, {}, half, false);
    Field field({.lengths = half});
    field.fill([&](Index z, Index y, Row row) { solution.row(0, z, y, row); });
    field.sweeps(Kernel::plain);  // beyond its half is nought, which the grid's other half is not
    std::vector<double> row(8);
    solution.row(1, 4, 4, row);
    EXPECT_GT(std::abs(row[7] - field.row(4, 4)[7]), 1000 * Solution::rounding(1));
}

TEST(Division, WordsNameGridsOfRanks) {
    EXPECT_EQ(standing("1d", 6), (std::vector<int>{6, 1, 1}));
    EXPECT_EQ(standing("2d", 6), (std::vector<int>{3, 2, 1}));
    EXPECT_EQ(standing("3d", 12), (std::vector<int>{3, 2, 2}));
    EXPECT_EQ(standing("1x3x2", 6), (std::vector<int>{1, 3, 2}));
    for (const char* wrong : {"", "4d", "2x3", "2x3x", "3x3x3", "2x3x1x1", "axbxc", "0x6x1", "6x1x1x"})
        EXPECT_TRUE(standing(wrong, 6).empty()) << wrong;
}

// Seven planes among three ranks: 3, 2 and 2, one after the other, and neighbours know each other.
TEST(Division, PartsFillTheGrid) {
    Index at = 0;
    for (int rank = 0; rank < 3; ++rank) {
        const Division part = divided({7, 4, 4}, {3, 1, 1}, rank, 1, false);
        EXPECT_EQ(part.part.lengths[0], rank == 0 ? 3 : 2);
        EXPECT_EQ(part.from[0], at);
        EXPECT_EQ(part.peers[0][0], rank == 0 ? nobody : rank - 1);
        EXPECT_EQ(part.peers[0][1], rank == 2 ? nobody : rank + 1);
        EXPECT_FALSE(part.part.goes_on[1][0]);
        at += part.part.lengths[0];
    }
    EXPECT_EQ(at, 7);
    EXPECT_EQ(divided({7, 4, 4}, {3, 1, 1}, 0, 1, true).peers[0][0], 2);
    EXPECT_EQ(divided({7, 4, 4}, {3, 1, 1}, 1, 1, true).peers[2][1], 1);
}

TEST(Division, MoreRanksThanPlanesIsASentence) {
    EXPECT_EQ(refusal({8, 8, 8}, {8, 1, 1}, 1, false), "");
    EXPECT_EQ(
        refusal({8, 8, 8}, {9, 1, 1}, 1, false),
        "8 planes among 9 ranks (9x1x1) leave some rank fewer than the 1 that its neighbour needs; a larger "
        "edge, or a grid of more dimensions would do");
    EXPECT_NE(refusal({8, 8, 8}, {4, 1, 1}, 3, false).find("a smaller depth"), std::string::npos);
}

}  // namespace
}  // namespace leadline::jacobi
