// How many grid points do ranks update in a second, and what share is that of the memory-bandwidth bound?
//
// Jacobi's iteration in three dimensions, the mean of six neighbours (Hager and Wellein, Introduction to High
// Performance Computing for Scientists and Engineers, section 3.3 and, with messages, 9.3). What it is held
// against is a sweep that reads and writes each number once, 16 B a point, at the bandwidth of a copy by
// streaming stores: measured after each sample, on the same cores and in the same memory. Several sweeps in
// one go through memory are not bound by that. The result is held against what sequential sweeps give.
#include <algorithm>
#include <cmath>
#include <optional>

#include "applications/jacobi/division.hpp"
#include "applications/jacobi/field.hpp"
#include "applications/jacobi/halo.hpp"
#include "applications/jacobi/solution.hpp"
#include "harness/benchmark.hpp"

namespace leadline {
namespace {

using jacobi::Division;
using jacobi::Field;
using jacobi::Halo;
using jacobi::Index;
using jacobi::Kernel;
using jacobi::Region;
using jacobi::Solution;
using jacobi::Triple;

constexpr double flops_a_point = 6;   // five additions and a product
constexpr double bytes_a_point = 16;  // read once, written once by streaming stores

struct Wanted {
    Kernel kernel;
    Index depth;
    bool periodic;
    Triple grid{};
    std::vector<int> ranks;
};

Kernel kernel_of(const std::string& word) {
    if (word == "plain") return Kernel::plain;
    return word == "blocked" ? Kernel::blocked : Kernel::streaming;
}

// What the point asks for; skipped where it cannot be had.
Wanted wanted(const Run& run) {
    Wanted made{.kernel = kernel_of(run.word("kernel")),
                .depth = run["depth"],
                .periodic = run.word("ends") == "periodic",
                .grid = {},
                .ranks = jacobi::standing(run.word("grid"), run.ranks())};
    if (made.ranks.empty())
        Run::skip("a grid is 1d, 2d, 3d or such as 3x2x2 whose product is the " +
                  std::to_string(run.ranks()) + " ranks, but got '" + run.word("grid") + "'");
    if (made.depth < 1 || made.depth > 32)
        Run::skip("from 1 to 32 sweeps go on one halo, but got " + std::to_string(made.depth));
    if (made.kernel == Kernel::plain && made.depth > 1)
        Run::skip("plain sweeps are not blocked in time: depth 1, or another kernel");
    for (std::size_t axis = 0; axis < 3; ++axis)
        made.grid[axis] = run["edge"] * (run.word("scaling") == "weak" ? made.ranks[axis] : 1);
    // MPICH 4.0.2 has them the other way round than Open MPI 4.1.4.
    if (run.word("halo") == "collective" && made.periodic &&
        std::ranges::find(made.ranks, 2) != made.ranks.end())
        Run::skip(
            "two ranks along a periodic axis are one neighbour on both sides, and libraries differ in which "
            "of "
            "its messages a collective takes for which: another halo, or fixed ends");
    const std::string refusal = jacobi::refusal(made.grid, made.ranks, made.depth, made.periodic);
    if (!refusal.empty()) Run::skip(refusal);
    return made;
}

double points(const Triple& lengths) {
    return static_cast<double>(lengths[0]) * static_cast<double>(lengths[1]) *
           static_cast<double>(lengths[2]);
}

// One rank's sweeps.
class Sweeps {
public:
    Sweeps(Run& run, const Wanted& wanted, const Division& division, Halo& halo)
        : run_(run), wanted_(wanted), division_(division), halo_(halo) {
        if constexpr (Control::computes) {
            field_.emplace(division.part);
            solution_.emplace(division.grid, division.from, division.part.lengths, wanted.periodic);
            field_->fill([&](Index z, Index y, std::span<double> row) { solution_->row(0, z, y, row); });
        }
    }

    // As many sweeps as the halo is deep.
    Task<> once() {
        if (halo_.overlaps()) {
            co_await overlapped();
        } else {
            co_await halo_.exchange(field());
            co_await run_.compute(work(division_.part.whole(), static_cast<double>(wanted_.depth)),
                                  [&] { field_->sweeps(wanted_.kernel); });
        }
        done_ += static_cast<double>(wanted_.depth);
    }

    // B/s of a copy, which leaves what the next sweep writes over; not finite where it takes no time.
    // The best of three: one copy of a small part may fall into a moment that something else has the core.
    Task<double> bandwidth() {
        const double bytes = bytes_a_point * points(division_.part.lengths);
        double best = 0;
        for (int copy = 0; copy < 3; ++copy) {
            const double begin = run_.now();
            double copied = bytes;
            co_await run_.compute(Work{.bytes = bytes}, [&] { copied = field_->copy(); });
            best = std::max(best, copied / (run_.now() - begin));
        }
        co_return best;
    }

    // Holds every number, and by how much the last sweeps changed them, against sequential sweeps.
    Task<> verify(Comm& comm);

private:
    Field* field() { return field_ ? &*field_ : nullptr; }

    [[nodiscard]] Work work(const Region& region, double sweeps) const {
        const auto count = static_cast<double>(region.points());
        // Without streaming stores what is written is read before; in one go through memory once.
        const double bytes = wanted_.kernel == Kernel::streaming ? bytes_a_point : bytes_a_point * 3 / 2;
        return {.flops = flops_a_point * count * sweeps, .bytes = bytes * count};
    }

    Task<> overlapped();

    Run& run_;
    const Wanted& wanted_;
    const Division& division_;
    Halo& halo_;
    std::optional<Field> field_{};
    std::optional<Solution> solution_{};
    double done_ = 0;  // sweeps
};

// The inside while the halo is on its way, in parts between which the library may work on it; then, of each
// axis, what lies next to the halo.
Task<> Sweeps::overlapped() {
    constexpr Index parts = 8;
    co_await halo_.begin(field());
    Region inside = division_.part.whole();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (division_.part.goes_on[axis][0]) ++inside.from[axis];
        if (division_.part.goes_on[axis][1]) --inside.to[axis];
    }
    const Index planes = std::max<Index>(inside.to[0] - inside.from[0], 0);
    for (Index each = 0; each < parts; ++each) {
        Region some = inside;
        some.from[0] = inside.from[0] + planes * each / parts;
        some.to[0] = inside.from[0] + planes * (each + 1) / parts;
        co_await run_.compute(work(some, 1), [&] { field_->sweep(wanted_.kernel, some); });
        co_await halo_.poll();
    }
    co_await halo_.end(field());
    Region rest = division_.part.whole();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Region low = rest;
        Region high = rest;
        low.to[axis] = inside.from[axis];
        high.from[axis] = std::max(inside.to[axis], inside.from[axis]);
        co_await run_.compute(work(low, 1), [&] { field_->sweep(wanted_.kernel, low); });
        co_await run_.compute(work(high, 1), [&] { field_->sweep(wanted_.kernel, high); });
        rest.from[axis] = inside.from[axis];
        rest.to[axis] = high.from[axis];
    }
    co_await run_.compute(Work{}, [&] { field_->turn(); });
}

Task<> Sweeps::verify(Comm& comm) {
    const double before = done_;
    co_await once();
    if (!run_.verifies()) co_return;
    const double allowed = Solution::rounding(done_);
    double worst = 0;
    std::array<double, 2> changed{};  // squares of what changed: found, and sequentially
    const Triple& lengths = division_.part.lengths;
    std::vector<double> now(static_cast<std::size_t>(lengths[2]));
    std::vector<double> then(now.size());
    for (Index z = 0; z < lengths[0]; ++z)
        for (Index y = 0; y < lengths[1]; ++y) {
            solution_->row(done_, z, y, now);
            solution_->row(before, z, y, then);
            const auto found = field_->row(z, y);
            const auto found_before = field_->row_before(z, y);
            for (std::size_t x = 0; x < now.size(); ++x) {
                worst = std::max(worst, std::abs(found[x] - now[x]));
                changed[0] += std::pow(found[x] - found_before[x], 2);
                changed[1] += std::pow(now[x] - then[x], 2);
            }
        }
    std::array<double, 2> all{};
    const Bytes mine = std::as_writable_bytes(std::span(changed));
    const Bytes sum = std::as_writable_bytes(std::span(all));
    co_await comm.allreduce(mine, sum, Type::float64, Reduce::sum);
    const double residual = std::sqrt(all[0]);
    const double sequential = std::sqrt(all[1]);
    run_.verify(worst <= allowed, "after " + std::to_string(std::lround(done_)) +
                                      " sweeps a point is off the sequential solution by " +
                                      std::to_string(worst) + ", rounding by " + std::to_string(allowed) +
                                      " at most");
    const double off = std::abs(residual - sequential);
    const double total = points(division_.grid);
    run_.verify(off <= 2 * allowed * std::sqrt(total), "the residual is " + std::to_string(residual) +
                                                           ", sequentially " + std::to_string(sequential));
}

}  // namespace

BENCHMARK(jacobi, at_least(1),
          counts("edge", {32, 96},
                 "points along an edge of a rank's part, or of the whole grid: N of N x N x N"),
          choice("scaling", {"weak", "strong"}, "whether the edge is that of a rank's part or of the whole",
                 {"weak"}),
          words("grid", "how the ranks stand: 1d, 2d, 3d as evenly as can be, or such as 3x2x2",
                [](const Scale&) {
                    return std::vector<std::string>{"1d", "2d", "3d"};
                }),
          choice("ends", {"fixed", "periodic"}, "what lies beyond the grid: nought, or its other end",
                 {"fixed"}),
          choice("kernel", {"plain", "blocked", "streaming"},
                 "triple loop; vectors in blocks that stay in the cache; the same with streaming stores",
                 {"streaming"}),
          counts("depth", {1, 4}, "sweeps in one pass through memory, with one halo exchange"),
          choice("halo", Halo::forms(),
                 "one message after the other; all at once, beside what needs none; made ready once; one "
                 "collective; puts and notices"),
          metric("rate", Unit::per_second, higher, smallest, "points updated a second by all ranks together"),
          metric("bound", Unit::per_second, higher, sum,
                 "points a second of one sweep at the bandwidth of a copy, 16 B a point"),
          metric("share", Unit::one, higher, Over::mean,
                 "share of the bound that a rank reaches; may exceed 1 if depth is above 1")) {
    const auto& asked = run.once([&] { return wanted(run); });
    Comm comm = co_await run.world().cart(asked.ranks, asked.periodic);
    const Division division =
        jacobi::divided(asked.grid, asked.ranks, comm.rank(), asked.depth, asked.periodic);
    Halo halo(run, comm, division, run.word("halo"));
    co_await halo.open();
    Sweeps sweeps(run, asked, division, halo);
    // Also before the samples: with fixed ends all numbers have decayed to nothing after some thousand
    // sweeps, right or wrong.
    if (run.verifies()) co_await sweeps.verify(comm);
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await sweeps.once();
        run.stop();
        if (run.elapsed() <= 0) {
            if (!Control::computes)
                Run::skip(
                    "a sweep takes no time on a machine of which neither node.memory nor node.flops is told");
            continue;
        }
        const double each = run.each() / static_cast<double>(asked.depth);
        run.sample("rate", points(asked.grid) / each);
        // Who copies while others still sweep has more of the memory than its share.
        co_await comm.barrier();
        const double bandwidth = co_await sweeps.bandwidth();
        if (!std::isfinite(bandwidth)) continue;
        const double bound = bandwidth / bytes_a_point;
        run.sample("bound", bound);
        run.sample("share", points(division.part.lengths) / each / bound);
    }
    co_await sweeps.verify(comm);
    co_await halo.close();
}

}  // namespace leadline
