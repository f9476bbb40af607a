// A multiplication of matrices, as a computation that messages may hide behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "harness/run.hpp"

namespace leadline {

// Rows of the product of two square matrices that stay in the cache, again and again. The plain loop: what
// matters is that the core is busy with numbers, as a program's is, and not how fast.
class Multiplication {
public:
    // Computes so many rows; on a simulated machine their time passes.
    auto rows(Run& run, std::int64_t count) {
        constexpr auto order = static_cast<double>(size);
        return run.compute({.flops = 2 * order * order * static_cast<double>(count)},
                           [this, count] { multiply(count); });
    }

private:
    static constexpr std::size_t size = 32;
    using Matrix = std::array<std::array<double, size>, size>;
    struct Matrices {
        Matrix left;
        Matrix right;
        Matrix product;
    };

    void multiply(std::int64_t count) {
        if (!matrices_) {
            matrices_ = std::make_unique<Matrices>();
            for (auto* matrix : {&matrices_->left, &matrices_->right})
                for (auto& row : *matrix) row.fill(1.0 / static_cast<double>(size));
        }
        auto& [left, right, product] = *matrices_;
        for (std::int64_t each = 0; each < count; ++each) {
            const auto i = static_cast<std::size_t>(each) % size;
            auto& row = product[i];
            row.fill(0);
            for (std::size_t k = 0; k < size; ++k)
                for (std::size_t j = 0; j < size; ++j) row[j] += left[i][k] * right[k][j];
            asm volatile("" : : "r"(row.data()) : "memory");  // keeps the compiler from leaving it out
        }
    }

    std::unique_ptr<Matrices> matrices_{};
};

}  // namespace leadline
