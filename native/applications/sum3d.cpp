// How long does it take to scatter two 3-D arrays, add them and gather the sum?
//
// Rank 0 has two arrays of random numbers; by scatterv each rank gets its part of both, adds them, and by
// gatherv rank 0 gets the sum. No other message is sent (ORFEO report, section 1 B, whose boxes are only as
// many elements taken in order; here they are boxes, not contiguous in memory, sent by derived types).
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "applications/sum3d/split.hpp"
#include "harness/benchmark.hpp"
#include "harness/grids.hpp"

namespace leadline {
namespace {

using sum3d::Box;
using sum3d::Group;
using sum3d::Lengths;

// An array of this rank; a described machine's ranks have none, only its length.
class Field {
public:
    explicit Field(std::int64_t count) : count_(static_cast<std::size_t>(count)) {
        if constexpr (Control::computes) numbers_.resize(count_);
    }
    [[nodiscard]] Bytes bytes() {
        return {reinterpret_cast<std::byte*>(numbers_.data()), count_ * sizeof(double)};
    }
    std::vector<double>& numbers() { return numbers_; }

private:
    std::size_t count_;
    std::vector<double> numbers_;
};

// The number of an element: between 0 and 1, random, the same wherever it is asked for (SplitMix64).
double drawn(std::int64_t array, std::int64_t element) {
    auto state = (static_cast<std::uint64_t>(2 * element + array) + 1) * 0x9E3779B97F4A7C15U;
    state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
    state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
    return static_cast<double>((state ^ (state >> 31U)) >> 11U) * 0x1p-53;
}

void fill(std::vector<double>& numbers, std::int64_t array) {
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = drawn(array, static_cast<std::int64_t>(i));
}

// How the arrays are dealt: the same on all ranks.
struct Deal {
    Lengths array{};
    Lengths grid{};
    bool boxes = false;
    std::vector<std::int64_t> loads;
    std::vector<Group> groups;
};

// The reason in `skipped` where the point asks for what cannot be.
struct Asking {
    Deal deal;
    std::string skipped;
};

std::string unfit(const Deal& deal, int ranks) {
    const auto told = [](const Lengths& l) {
        return std::to_string(l[0]) + "x" + std::to_string(l[1]) + "x" + std::to_string(l[2]);
    };
    if (sum3d::elements(deal.grid) != ranks)
        return "a grid of " + told(deal.grid) + " has " + std::to_string(sum3d::elements(deal.grid)) +
               " ranks, but there are " + std::to_string(ranks);
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (deal.grid[axis] > deal.array[axis])
            return "an array of " + told(deal.array) + " has no plane for each rank of a grid of " +
                   told(deal.grid);
    return {};
}

Asking asking(const Run& run) {
    Asking asking;
    Deal& deal = asking.deal;
    try {
        deal.array = sum3d::lengths_of(run.word("array"));
        deal.grid = sum3d::lengths_of(run.word("grid"));
    } catch (const std::invalid_argument& problem) {
        asking.skipped = problem.what();
        return asking;
    }
    asking.skipped = unfit(deal, run.ranks());
    if (!asking.skipped.empty()) return asking;
    deal.boxes = run.word("split") == "boxes";
    deal.loads = sum3d::loads(deal.array, deal.grid, run.word("split") != "even");
    if (deal.boxes) {
        deal.groups = sum3d::groups(deal.array, deal.grid);
        return asking;
    }
    Group all;
    std::int64_t next = 0;
    for (const std::int64_t load : deal.loads) {
        const auto bytes = load * static_cast<std::int64_t>(sizeof(double));
        all.parts.push_back({static_cast<int>(all.parts.size()), bytes, next});
        next += bytes;
    }
    deal.groups.push_back(std::move(all));
    return asking;
}

bool has(const Group& group, int rank) { return std::ranges::count(group.parts, rank, &Part::peer) > 0; }

// A scatter of `whole` into `part`, or a gather the other way, of one group.
Call call_of(Collective what, const Group& group, int rank, Field& whole, Field& part) {
    const Bytes all = rank == 0 ? whole.bytes() : Bytes();
    const Bytes own = has(group, rank) ? part.bytes() : Bytes();
    const Layout layout = rank == 0 ? Layout(group.parts) : Layout();
    if (what == Collective::scatter)
        return {.what = what, .out = all, .in = own, .gives = layout, .shape = group.shape, .varies = true};
    return {.what = what, .out = own, .in = all, .takes = layout, .shape = group.shape, .varies = true};
}

// The place in the whole array of each element of a rank's part, in order.
std::vector<std::int64_t> places(const Deal& deal, int rank) {
    std::vector<std::int64_t> all;
    if (!deal.boxes) {
        std::int64_t first = 0;
        for (int other = 0; other < rank; ++other) first += deal.loads[static_cast<std::size_t>(other)];
        for (std::int64_t i = 0; i < deal.loads[static_cast<std::size_t>(rank)]; ++i)
            all.push_back(first + i);
        return all;
    }
    const Box box = sum3d::box_of(rank, deal.array, deal.grid);
    for (std::int64_t x = 0; x < box.count[0]; ++x)
        for (std::int64_t y = 0; y < box.count[1]; ++y)
            for (std::int64_t z = 0; z < box.count[2]; ++z)
                all.push_back(((box.from[0] + x) * deal.array[1] + box.from[1] + y) * deal.array[2] +
                              box.from[2] + z);
    return all;
}

// The three arrays, whole at rank 0, and this rank's parts of them.
struct Arrays {
    Arrays(std::int64_t elements, std::int64_t load, bool root)
        : a(root ? elements : 0),
          b(root ? elements : 0),
          c(root ? elements : 0),
          part_a(load),
          part_b(load),
          part_c(load) {
        fill(a.numbers(), 0);
        fill(b.numbers(), 1);
    }
    void add() {
        const std::vector<double>& left = part_a.numbers();
        const std::vector<double>& right = part_b.numbers();
        std::vector<double>& sum = part_c.numbers();
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = left[i] + right[i];
    }
    // What is wrong with what came, to this rank's parts and at rank 0 to the sum; nothing where all is
    // right.
    [[nodiscard]] std::string wrong(const std::vector<std::int64_t>& places) {
        for (std::size_t i = 0; i < places.size(); ++i)
            if (part_a.numbers()[i] != drawn(0, places[i]) || part_b.numbers()[i] != drawn(1, places[i]))
                return "element " + std::to_string(i) + " of its part is not element " +
                       std::to_string(places[i]) + " of the array";
        const std::vector<double>& sum = c.numbers();
        for (std::size_t i = 0; i < sum.size(); ++i)
            if (sum[i] != a.numbers()[i] + b.numbers()[i])
                return "element " + std::to_string(i) + " of the sum is " + std::to_string(sum[i]) +
                       ", not " + std::to_string(a.numbers()[i] + b.numbers()[i]);
        return {};
    }

    Field a, b, c;
    Field part_a, part_b, part_c;
};

std::vector<std::string> usual_grids(const Scale& scale) {
    std::vector<std::string> all;
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
        std::vector<int> lengths = even_grid(scale.ranks, dimensions);
        std::ranges::reverse(lengths);
        lengths.resize(3, 1);
        const std::string told =
            std::to_string(lengths[0]) + "x" + std::to_string(lengths[1]) + "x" + std::to_string(lengths[2]);
        if (std::ranges::count(all, told) == 0) all.push_back(told);
    }
    return all;
}

Task<> perform_all(std::vector<Comm::Prepared>& operations) {
    for (Comm::Prepared& each : operations) {
        co_await each.begin();
        co_await each.end();
    }
}

}  // namespace

BENCHMARK(sum3d, at_least(2),
          words("array", "lengths of the arrays of numbers of 8 B, the last one fastest",
                [](const Scale&) { return std::vector<std::string>{"96x50x50"}; }),
          words("grid", "ranks along each axis", usual_grids),
          choice("split", {"even", "sizes", "boxes"},
                 "what a rank gets: an even share whatever the grid; as many elements as its box has, in "
                 "order; its box"),
          metric("time", Unit::second, lower, largest, "time of scatter, sum and gather"),
          metric("scatter", Unit::second, lower, mean,
                 "part of it in the scatter of two arrays, mean over ranks"),
          metric("gather", Unit::second, lower, mean, "part of it in the gather of the sum, mean over ranks"),
          metric("rest", Unit::second, lower, mean, "time in neither, mean over ranks"),
          metric("least", Unit::one, higher, smallest, "elements of the rank with the fewest"),
          metric("most", Unit::one, lower, largest, "elements of the rank with the most")) {
    const Asking& asked = run.once([&] { return asking(run); });
    if (!asked.skipped.empty()) Run::skip(asked.skipped);
    const Deal& deal = asked.deal;
    Comm& world = run.world();
    const std::int64_t load = deal.loads[static_cast<std::size_t>(run.rank())];
    Arrays arrays(sum3d::elements(deal.array), load, run.rank() == 0);
    std::vector<Comm::Prepared> scatters;
    std::vector<Comm::Prepared> gathers;
    for (const Group& group : deal.groups) {
        const Call a = call_of(Collective::scatter, group, run.rank(), arrays.a, arrays.part_a);
        const Call b = call_of(Collective::scatter, group, run.rank(), arrays.b, arrays.part_b);
        const Call c = call_of(Collective::gather, group, run.rank(), arrays.c, arrays.part_c);
        auto first = co_await world.prepare(a, Form::blocking);
        auto second = co_await world.prepare(b, Form::blocking);
        auto third = co_await world.prepare(c, Form::blocking);
        scatters.push_back(std::move(first));
        scatters.push_back(std::move(second));
        gathers.push_back(std::move(third));
    }
    const auto mine = run.verifies() ? places(deal, run.rank()) : std::vector<std::int64_t>();
    const auto count = static_cast<double>(load);
    const Work sum{.flops = count, .bytes = 3 * sizeof(double) * count};
    while (co_await run.next_sample()) {
        std::ranges::fill(arrays.c.numbers(), 0.0);
        double scatter = 0;
        double gather = 0;
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) {
            const double begun = run.now();
            co_await perform_all(scatters);
            const double dealt = run.now();
            co_await run.compute(sum, [&] { arrays.add(); });
            const double added = run.now();
            co_await perform_all(gathers);
            scatter += dealt - begun;
            gather += run.now() - added;
        }
        run.stop();
        if (run.verifies()) {
            const std::string wrong = arrays.wrong(mine);
            run.verify(wrong.empty(), wrong);
        }
        const auto turns = static_cast<double>(run.batch().size);
        run.sample("time", run.each());
        run.sample("scatter", scatter / turns);
        run.sample("gather", gather / turns);
        run.sample("rest", run.each() - (scatter + gather) / turns);
        run.sample("least", count);
        run.sample("most", count);
    }
    for (auto* operations : {&scatters, &gathers})
        for (Comm::Prepared& each : *operations) co_await each.free();
}

}  // namespace leadline
