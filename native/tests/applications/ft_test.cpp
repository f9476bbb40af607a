// The parts of NAS FT by themselves: its numbers, its transforms, where its points stand.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <set>
#include <stdexcept>
#include <vector>

#include "applications/ft/grid.hpp"
#include "applications/ft/random.hpp"
#include "applications/ft/transforms.hpp"
#include "applications/ft/vectors/vectors.hpp"
#include "harness/large_pages.hpp"

namespace leadline::ft {
namespace {

// Numbers that begin at a cache line.
class Aligned {
public:
    explicit Aligned(std::ptrdiff_t count)
        : memory_(static_cast<double*>(
              std::aligned_alloc(64, (static_cast<std::size_t>(count) * sizeof(double) + 63) / 64 * 64))) {}
    [[nodiscard]] double* at() const { return memory_.get(); }
    [[nodiscard]] Complex* points() const { return reinterpret_cast<Complex*>(memory_.get()); }

private:
    struct Free {
        void operator()(double* memory) const { std::free(memory); }
    };
    std::unique_ptr<double, Free> memory_;
};

// The recurrence itself, without leaps.
std::vector<double> plainly(std::size_t count) {
    std::vector<double> all;
    unsigned __int128 x = 314'159'265;
    for (std::size_t k = 0; k < count; ++k) {
        x = x * 1'220'703'125 % (std::uint64_t{1} << 46U);
        all.push_back(static_cast<double>(static_cast<std::uint64_t>(x)) / std::pow(2.0, 46));
    }
    return all;
}

TEST(FtRandom, IsTheRecurrenceFromAnyPlaceOn) {
    const auto expected = plainly(60);
    for (const std::int64_t skipped : {0, 1, 7, 8, 20}) {
        std::vector<Complex> found(19);
        Sequence sequence(skipped);
        sequence.fill(found.data(), 5);
        sequence.fill(found.data() + 5, 14);
        for (std::size_t k = 0; k < found.size(); ++k) {
            EXPECT_EQ(found[k].real(), expected[static_cast<std::size_t>(skipped) + 2 * k])
                << skipped << ' ' << k;
            EXPECT_EQ(found[k].imag(), expected[static_cast<std::size_t>(skipped) + 2 * k + 1]);
        }
    }
}

TEST(FtRandom, FillsLinesAbreast) {
    const auto expected = plainly(200);
    std::vector<Complex> found(12);
    fill_abreast({0, 6, 12, 2}, 40, 3, found.data());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(found[4 * i].real(), expected[40 * i]);
        EXPECT_EQ(found[4 * i + 1].imag(), expected[40 * i + 7]);
        EXPECT_EQ(found[4 * i + 2].real(), expected[40 * i + 12]);
        EXPECT_EQ(found[4 * i + 3].imag(), expected[40 * i + 3]);
    }
}

TEST(FtTransform, IsTheFourierSum) {
    if (!transforms_available()) GTEST_SKIP() << "built without FFTW";
    constexpr std::int64_t length = 64;
    std::vector<Complex> row(length);
    Sequence(0).fill(row.data(), length);
    std::vector<Complex> rows(static_cast<std::size_t>(length * tile));
    for (std::int64_t i = 0; i < length * tile; ++i)
        rows[static_cast<std::size_t>(i)] = row[static_cast<std::size_t>(i / tile)];
    const auto before = row;
    Transform there(length, Transform::Sign::forward, Transform::Use::planes);
    Transform back(length, Transform::Sign::inverse, Transform::Use::planes);
    there.row(row.data());
    there.columns(rows.data());
    for (std::int64_t k = 0; k < length; ++k) {
        Complex sum = 0;
        for (std::int64_t j = 0; j < length; ++j)
            sum += before[static_cast<std::size_t>(j)] *
                   std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % length) / length);
        EXPECT_LT(std::abs(row[static_cast<std::size_t>(k)] - sum), 1e-12);
        EXPECT_LT(std::abs(rows[static_cast<std::size_t>(k * tile + tile - 1)] - sum), 1e-12);
    }
    back.row(row.data());
    for (std::size_t j = 0; j < row.size(); ++j)
        EXPECT_LT(std::abs(row[j] / static_cast<double>(length) - before[j]), 1e-14);
}

// Lines of every kind of vector, from a place to another one, with factors and without.
TEST(FtVectors, TransformLinesAbreast) {
    constexpr std::ptrdiff_t apart = halves + 8;
    for (const Vectors* kind : all_vectors())
        for (const std::ptrdiff_t length : {16, 32, 64, 128, 256, 512, 1024, 2048})
            for (const bool inverse : {false, true}) {
                const Radices radices(length, inverse);
                Aligned from(length * halves);
                Aligned to(length * apart);
                Aligned work(radices.room());
                Sequence(0).fill(from.points(), length * abreast);
                std::vector<double> rows(static_cast<std::size_t>(length));
                for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = 1.0 / static_cast<double>(1 + i);
                alignas(64) const std::array<double, 8> lanes{1, 1, 2, 2, 3, 3, 4, 4};
                const Factors factors{inverse ? rows.data() : nullptr, lanes.data()};
                kind->transform(radices, {from.at(), halves}, {to.at(), apart}, factors, work.at(), nullptr);
                for (const std::ptrdiff_t k : {std::ptrdiff_t{0}, std::ptrdiff_t{3}, length - 1}) {
                    constexpr std::ptrdiff_t line = 2;
                    Complex sum = 0;
                    for (std::ptrdiff_t j = 0; j < length; ++j) {
                        const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % length) /
                                             static_cast<double>(length);
                        const double factor = inverse ? 3 * rows[static_cast<std::size_t>(j)] : 1;
                        sum += from.points()[j * abreast + line] * factor *
                               std::polar(1.0, inverse ? angle : -angle);
                    }
                    const double* found = to.at() + k * apart + 2 * line;
                    EXPECT_LT(std::abs(Complex(found[0], found[1]) - sum),
                              1e-13 * static_cast<double>(length))
                        << kind->name << ' ' << length << ' ' << k;
                }
            }
}

TEST(FtVectors, TurnSquaresAndCopy) {
    for (const Vectors* kind : all_vectors()) {
        Aligned from(8 * halves);
        Aligned to(10 * halves);
        for (std::ptrdiff_t i = 0; i < 8 * abreast; ++i)
            from.points()[i] = Complex(static_cast<double>(i), -1);
        kind->turn({from.at(), halves}, 8, {to.at(), 5 * halves});
        for (std::ptrdiff_t i = 0; i < 8; ++i)
            for (std::ptrdiff_t k = 0; k < abreast; ++k)
                EXPECT_EQ(to.points()[(i / 4 * 5 + k) * abreast + i % 4], from.points()[i * abreast + k])
                    << kind->name;
        kind->stream(from.at(), to.at(), 8 * halves);
        drain_stores();
        for (std::ptrdiff_t i = 0; i < 8 * halves; ++i) EXPECT_EQ(to.at()[i], from.at()[i]) << kind->name;
    }
}

TEST(FtVectors, HaveNoOtherLengths) { EXPECT_THROW(Radices(48, false), std::logic_error); }

// Every row that arrives has a place of its own, within the memory that is reserved for all.
TEST(FtShape, RowsLandBesideOneAnother) {
    for (const auto pieces : {Pieces::exchange, Pieces::slabs, Pieces::pencils})
        for (const std::int64_t padding : {0, 3}) {
            const Shape shape{32, 16, 8, 4, pieces, padding};
            std::set<std::int64_t> places;
            for (std::int64_t a = 0; a < shape.na; ++a)
                for (std::int64_t b = 0; b < shape.rows(); ++b) places.insert(shape.landing(a, b));
            EXPECT_EQ(std::ssize(places), shape.na * shape.rows());
            std::int64_t before = -shape.ny;
            for (const std::int64_t place : places) {
                EXPECT_GE(place, before + shape.ny);
                before = place;
            }
            EXPECT_LE(before + shape.ny, shape.landing_points());
        }
}

// Table 1 and section 6.1 of Bell et al.: class D on 256 processes.
TEST(FtShape, CountsMessagesAsThePaper) {
    const Problem& d = problem("D");
    const auto back = [&](Pieces pieces) { return Shape{d.nz, d.nx, d.ny, 256, pieces, 0}; };
    EXPECT_EQ(back(Pieces::exchange).messages(), 256);
    EXPECT_EQ(back(Pieces::slabs).messages(), 1024);
    EXPECT_EQ(back(Pieces::slabs).piece() * d.ny * number, 128 << 10);
    EXPECT_EQ(back(Pieces::pencils).messages(), 8192);
    EXPECT_EQ(back(Pieces::pencils).piece() * d.ny * number, 16 << 10);
}

TEST(FtChecksum, AgreesToOnePartInTenToTheTwelfth) {
    const Complex published = problem("S").checksums[0];
    EXPECT_TRUE(agrees(published, published));
    EXPECT_TRUE(agrees(published * (1 + 5e-13), published));
    EXPECT_FALSE(agrees(published * (1 + 5e-12), published));
    EXPECT_FALSE(agrees({published.real(), published.imag() * (1 + 5e-12)}, published));
}

TEST(FtMemory, IsEstimatedBeforeItIsTaken) {
    EXPECT_EQ(memory_of(problem("D"), 2, 3), std::int64_t{3} * 1024 * 1024 * 1024 * 16);
    EXPECT_EQ(told(memory_of(problem("D"), 2, 2)), "32 GiB");
}

}  // namespace
}  // namespace leadline::ft
