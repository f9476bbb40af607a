#include "applications/jacobi/field.hpp"

#include <unistd.h>

#include <algorithm>

#include "applications/jacobi/rows.hpp"

namespace leadline::jacobi {
namespace {

constexpr Index line = 8;     // numbers in a cache line
constexpr Index stacked = 4;  // planes that a streaming sweep takes at once

Index round_up(Index value, Index to) { return (value + to - 1) / to * to; }

LargePages memory_for(Index numbers) {
    return large_pages(static_cast<std::size_t>(numbers) * sizeof(double));
}

// B; what most processors have had for some years where the system does not tell.
double second_level_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long told = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (told > 0) return static_cast<double>(told);
#endif
    return 512 * 1024;
}

}  // namespace

double Subdomain::bytes() const {
    double all = 2 * sizeof(double);
    for (const Index length : lengths) all *= static_cast<double>(length + 2 * depth);
    return all;
}

// Half of the cache: the rest is for the rows that pass through.
Index block_rows(Index pitch, Index planes, Index rows) {
    const double row = static_cast<double>(pitch) * sizeof(double);
    const auto fit = static_cast<Index>(second_level_cache() / 2 / (static_cast<double>(planes) * row));
    const Index blocks = round_up(rows, std::max<Index>(fit, 4)) / std::max<Index>(fit, 4);
    return round_up(rows, blocks) / blocks;
}

// Rows begin at a cache line, and what lies beyond one's end and before the next one's beginning share lines:
// each line between them is read from memory with them.
Field::Field(const Subdomain& part)
    : part_(part),
      left_(round_up(part.depth, line)),
      pitch_(round_up(part.lengths[2] + 2 * part.depth, line)),
      height_(part.lengths[1] + 2 * part.depth) {
    for (auto& copy : copies_) copy = memory_for(numbers() + apart);
    if (part.depth == 1) return;
    ring_rows_ = block_rows(pitch_, 3 * part.depth, part.lengths[1]) + 2 * part.depth;
    ring_ = memory_for(3 * (part.depth - 1) * ring_rows_ * pitch_ + 2 * left_);
}

// Of one copy; the last row ends beyond the last pitch.
Index Field::numbers() const { return pitch_ * height_ * (part_.lengths[0] + 2 * part_.depth) + 2 * left_; }

void Field::fill(const std::function<void(Index, Index, std::span<double>)>& row) {
    for (Index z = 0; z < part_.lengths[0]; ++z)
        for (Index y = 0; y < part_.lengths[1]; ++y)
            row(z, y, {address(now_, z, y, 0), static_cast<std::size_t>(part_.lengths[2])});
}

void Field::plain(const Region& region) {
    constexpr double sixth = 1.0 / 6.0;
    const Index plane = pitch_ * height_;
    const double* from = address(now_, 0, 0, 0);
    double* to = address(1 - now_, 0, 0, 0);
    for (Index z = region.from[0]; z < region.to[0]; ++z)
        for (Index y = region.from[1]; y < region.to[1]; ++y)
            for (Index x = region.from[2]; x < region.to[2]; ++x) {
                const double* at = from + z * plane + y * pitch_ + x;
                to[z * plane + y * pitch_ + x] =
                    (((at[-1] + at[1]) + (at[-pitch_] + at[pitch_])) + (at[-plane] + at[plane])) * sixth;
            }
}

void Field::sweep(Kernel kernel, const Region& region) {
    if (region.points() == 0) return;
    if (kernel == Kernel::plain) {
        plain(region);
        return;
    }
    const Index x = region.from[2];
    const Index count = region.to[2] - x;
    const bool streams = kernel == Kernel::streaming;
    const Index planes_at_once = streams ? stacked : 1;
    const Index rows_at_once = block_rows(pitch_, planes_at_once + 2, region.to[1] - region.from[1]);
    for (Index first = region.from[1]; first < region.to[1]; first += rows_at_once) {
        const Index end = std::min(first + rows_at_once, region.to[1]);
        for (Index z = region.from[0]; z < region.to[0]; z += planes_at_once) {
            const Stack stack{std::min(planes_at_once, region.to[0] - z), pitch_, pitch_ * height_};
            for (Index y = first; y < end; ++y) {
                double* to = address(1 - now_, z, y, x);
                const double* own = address(now_, z, y, x);
                if (streams) rows().stream_stack(to, own, stack, count);
                else rows().update(to, stencil_at(own, stack), count);
            }
        }
    }
    drain_stores();
}

// What the sweep of that number, from 1, has to give, so that the last gives the whole: beyond the whole
// where the grid goes on.
Region Field::level(Index sweep) const {
    Region region = part_.whole();
    const Index beyond = part_.depth - sweep;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (part_.goes_on[axis][0]) region.from[axis] -= beyond;
        if (part_.goes_on[axis][1]) region.to[axis] += beyond;
    }
    return region;
}

struct Field::Ring {
    double* memory;
    Index rows;
    Index pitch;
    Index left;
    Index first;  // the row of the grid that comes first in it

    // Row y of plane z of a level, from x = 0 on.
    [[nodiscard]] double* row(Index level, Index z, Index y) const {
        constexpr Index turns = 300;  // a multiple of three: z may be less than nought
        return memory + (((level - 1) * 3 + (z + turns) % 3) * rows + y - first) * pitch + left;
    }
};

void Field::nought(double* row) const {
    std::fill_n(row - part_.depth, part_.lengths[2] + 2 * part_.depth, 0.0);
}

// Where the grid ends beside a block, the rows beyond are nought in every plane.
void Field::clear_beyond(const Ring& ring, Index from, Index to) const {
    const auto clear = [&](Index y) {
        for (Index each = 1; each < part_.depth; ++each)
            for (Index z = 0; z < 3; ++z) nought(ring.row(each, z, y));
    };
    if (from == 0 && !part_.goes_on[1][0]) clear(-1);
    if (to == part_.lengths[1] && !part_.goes_on[1][1]) clear(to);
}

// The planes next to the whole, where the grid ends, are what the next sweep reads as nought.
void Field::clear_plane(const Ring& ring, Index sweep, Index z) const {
    const bool edge = (z == -1 && !part_.goes_on[0][0]) || (z == part_.lengths[0] && !part_.goes_on[0][1]);
    if (!edge || sweep == part_.depth) return;
    for (Index y = 0; y < ring.rows; ++y) nought(ring.row(sweep, z, ring.first + y));
}

// All sweeps over rows `from` to `to`, plane after plane: each sweep is a plane behind the one before, so
// that three planes of each are all that must be kept (wavefront blocking: Wellein, Hager, Zeiser, Wittmann
// and Fehske, Efficient temporal blocking for stencil computations by multicore-aware wavefront
// parallelization, COMPSAC 2009). Rows beside the block are computed again by its neighbours.
void Field::block(const Ring& ring, Index from, Index to, bool streams) {
    const Index depth = part_.depth;
    clear_beyond(ring, from, to);
    for (Index step = level(1).from[0]; step < part_.lengths[0] + depth; ++step)
        for (Index each = 1; each <= depth; ++each) {
            const Region region = level(each);
            const Index z = step - each;
            if (z < region.from[0] || z >= region.to[0]) {
                clear_plane(ring, each, z);
                continue;
            }
            const Index low = std::max(from - (depth - each), region.from[1]);
            const Index high = std::min(to + (depth - each), region.to[1]);
            for (Index y = low; y < high; ++y) row_of_level(ring, each, z, y, streams);
        }
}

// One row of one of the sweeps in one go. All but the first, which waits for memory, take turns in fetching
// the rows of the plane that the first one reads next.
void Field::row_of_level(const Ring& ring, Index sweep, Index z, Index y, bool streams) {
    const Region region = level(sweep);
    const Index x = region.from[2];
    const auto row = [&](Index dz, Index dy) {
        return (sweep == 1 ? address(now_, z + dz, y + dy, 0) : ring.row(sweep - 1, z + dz, y + dy)) + x;
    };
    const bool last = sweep == part_.depth;
    double* result = (last ? address(1 - now_, z, y, 0) : ring.row(sweep, z, y)) + x;
    const double* next = row(0, 0);
    const Index others = part_.depth - 1;
    const Index plane = z + sweep + 1;
    if (plane < level(0).to[0] && (y + part_.depth) % others == sweep - 2) next = address(now_, plane, y, x);
    const auto update = last && streams ? rows().stream : rows().update;
    update(result, {row(0, 0), row(0, -1), row(0, 1), row(-1, 0), row(1, 0), next}, region.to[2] - x);
}

void Field::sweeps(Kernel kernel) {
    const Index depth = part_.depth;
    if (depth == 1) {
        sweep(kernel, part_.whole());
        turn();
        return;
    }
    const Index rows_at_once = ring_rows_ - 2 * depth;
    Ring ring{reinterpret_cast<double*>(ring_.get()), ring_rows_, pitch_, left_, 0};
    for (Index from = 0; from < part_.lengths[1]; from += rows_at_once) {
        const Index to = std::min(from + rows_at_once, part_.lengths[1]);
        ring.first = from - depth;
        block(ring, from, to, kernel == Kernel::streaming);
    }
    drain_stores();
    turn();
}

double Field::copy() {
    rows().copy(first(1 - now_), first(now_), numbers());
    drain_stores();
    return 2.0 * sizeof(double) * static_cast<double>(numbers());
}

void Field::pack(const Region& region, double* to) const {
    for (Index z = region.from[0]; z < region.to[0]; ++z)
        for (Index y = region.from[1]; y < region.to[1]; ++y) {
            const double* row = address(now_, z, y, 0);
            to = std::copy(row + region.from[2], row + region.to[2], to);
        }
}

void Field::unpack(const Region& region, const double* from) {
    for (Index z = region.from[0]; z < region.to[0]; ++z)
        for (Index y = region.from[1]; y < region.to[1]; ++y) {
            const Index count = region.to[2] - region.from[2];
            std::copy_n(from, count, address(now_, z, y, region.from[2]));
            from += count;
        }
}

}  // namespace leadline::jacobi
