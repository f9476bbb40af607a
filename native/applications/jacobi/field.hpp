// The numbers of a rank's part of the grid, twice: what a sweep reads and what it writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "harness/large_pages.hpp"

namespace leadline::jacobi {

using Index = std::ptrdiff_t;
using Triple = std::array<Index, 3>;  // z, y, x: the last is the fastest

struct Region {
    Triple from{};
    Triple to{};

    [[nodiscard]] Index points() const {
        Index all = 1;
        for (std::size_t axis = 0; axis < 3; ++axis) all *= to[axis] > from[axis] ? to[axis] - from[axis] : 0;
        return all;
    }
};

// What is known of a part's surroundings: its lengths, how deep its halo is, and on which sides, below and
// above on each axis, the grid goes on. Where it does not, all beyond is nought.
struct Subdomain {
    Triple lengths{};
    Index depth = 1;
    std::array<std::array<bool, 2>, 3> goes_on{};

    [[nodiscard]] Region whole() const { return {{}, lengths}; }
    [[nodiscard]] double bytes() const;  // of both copies with their halos
};

// How a sweep goes: by the plain triple loop; by vectors, in blocks that stay in the cache; the same with
// streaming stores.
enum class Kernel { plain, blocked, streaming };

class Field {
public:
    // Touches its memory, in large pages where the system has some. Throws std::bad_alloc.
    explicit Field(const Subdomain& part);

    // The rows of the whole, one by one, of what is read; and of what was read before that.
    void fill(const std::function<void(Index z, Index y, std::span<double> row)>& row);
    [[nodiscard]] std::span<const double> row(Index z, Index y) const { return row_of(now_, z, y); }
    [[nodiscard]] std::span<const double> row_before(Index z, Index y) const {
        return row_of(1 - now_, z, y);
    }

    // One sweep over a part of the whole; `turn` makes what was written what is read.
    void sweep(Kernel kernel, const Region& region);
    // As many sweeps over the whole as the halo is deep, in one go through memory; turns.
    void sweeps(Kernel kernel);
    void turn() { now_ = 1 - now_; }

    // Copies what is read to where the next sweep writes, by streaming stores; bytes read and written.
    double copy();

    void pack(const Region& region, double* to) const;
    void unpack(const Region& region, const double* from);

private:
    // Rows of all levels but the last, three planes of each: what sweeps in one go keep in the cache.
    struct Ring;

    // Numbers by which the second copy begins later in its page than the first. Where both begin alike, what
    // a sweep has written and what it reads next have the same last twelve bits of their addresses, and the
    // processor takes the one for the other until it has compared the rest.
    static constexpr Index apart = 128;

    [[nodiscard]] double* first(int copy) const {
        return reinterpret_cast<double*>(copies_[static_cast<std::size_t>(copy)].get()) + copy * apart;
    }
    [[nodiscard]] double* address(int copy, Index z, Index y, Index x) const {
        return first(copy) + ((z + part_.depth) * height_ + y + part_.depth) * pitch_ + left_ + x;
    }
    [[nodiscard]] std::span<const double> row_of(int copy, Index z, Index y) const {
        return {address(copy, z, y, 0), static_cast<std::size_t>(part_.lengths[2])};
    }
    [[nodiscard]] Region level(Index sweep) const;
    [[nodiscard]] Index numbers() const;
    void nought(double* row) const;
    void clear_beyond(const Ring& ring, Index from, Index to) const;
    void clear_plane(const Ring& ring, Index sweep, Index z) const;
    void row_of_level(const Ring& ring, Index sweep, Index z, Index y, bool streams);
    void block(const Ring& ring, Index from, Index to, bool streams);
    void plain(const Region& region);

    Subdomain part_;
    Index left_;    // numbers before a row's first: whole cache lines
    Index pitch_;   // from row to row
    Index height_;  // rows of a plane
    int now_ = 0;
    std::array<LargePages, 2> copies_;
    LargePages ring_;
    Index ring_rows_ = 0;
};

// Rows of a block, of so many in all, of which so many planes stay in the second-level cache: blocks as even
// as can be.
Index block_rows(Index pitch, Index planes, Index rows);

}  // namespace leadline::jacobi
