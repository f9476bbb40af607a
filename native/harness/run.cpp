#include "harness/run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>

namespace leadline {
namespace {

constexpr std::size_t page = 4096;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// "Out of cache" wants twice the last-level cache; on hosts that show a cache of hundreds of mebibytes
// (shared with other guests) filling that would cost more than the measurement, so it stops here.
constexpr std::size_t most_rotated = std::size_t{64} << 20U;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// An extra line a buffer: buffers a whole number of pages apart would all fall into the same cache sets.
std::size_t stride_of(std::size_t bytes) { return round_up(std::max<std::size_t>(bytes, 1), 64) + 64; }

}  // namespace

void Arena::Free::operator()(std::byte* memory) const { std::free(memory); }

std::byte* Arena::reserve(std::size_t slot, std::size_t bytes) {
    Slot& held = slots_[slot];
    if (held.bytes < bytes) {
        held.memory.reset();
        held.memory.reset(static_cast<std::byte*>(std::aligned_alloc(page, round_up(bytes, page))));
        if (!held.memory) throw std::bad_alloc();
        held.bytes = bytes;
        std::fill_n(held.memory.get(), bytes, std::byte{1});
    }
    return held.memory.get();
}

double fold(Over over, const std::vector<double>& of_ranks) {
    std::vector<double> given;
    std::ranges::copy_if(of_ranks, std::back_inserter(given),
                         [](double value) { return !std::isnan(value); });
    if (given.empty()) return no_value;
    switch (over) {
        case Over::root: return of_ranks.front();
        case Over::largest: return *std::ranges::max_element(given);
        case Over::smallest: return *std::ranges::min_element(given);
        case Over::sum: return std::accumulate(given.begin(), given.end(), 0.0);
        case Over::mean:
            return std::accumulate(given.begin(), given.end(), 0.0) / static_cast<double>(given.size());
    }
    return no_value;
}

Run::Run(const Declaration& benchmark, Point point, Comm world, Control& control, Arena& arena, Limits limits)
    : benchmark_(benchmark),
      point_(std::move(point)),
      world_(std::move(world)),
      control_(control),
      arena_(arena),
      sampler_(benchmark, limits),
      mine_(benchmark.metrics.size() + 1, no_value) {}

const Value& Run::value(const std::string& sweep) const {
    const auto found = point_.find(sweep);
    if (found == point_.end())
        throw std::logic_error("benchmark " + benchmark_.name + " has no sweep '" + sweep +
                               "' at this point");
    return found->second;
}

std::int64_t Run::operator[](const std::string& sweep) const { return std::get<std::int64_t>(value(sweep)); }

const std::string& Run::word(const std::string& sweep) const { return std::get<std::string>(value(sweep)); }

Buffers Run::buffers(std::int64_t bytes, std::int64_t count) {
    const auto size = static_cast<std::size_t>(bytes);
    const auto many = std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)));
    const std::size_t stride = stride_of(size);
    return {arena_.reserve(arena_slot_++, stride * many), size, stride, many};
}

std::size_t Run::rotation() {
    static const std::size_t footprint =
        std::clamp(2 * last_level_cache(), std::size_t{16} << 20U, most_rotated);
    return footprint;
}

Buffers Run::buffers(std::int64_t bytes, const std::string& use) {
    if (use == "reused") return buffers(bytes, 1);
    const auto count = std::max<std::size_t>(rotation() / stride_of(static_cast<std::size_t>(bytes)), 2);
    return buffers(bytes, static_cast<std::int64_t>(std::bit_floor(count)));
}

Task<bool> Run::next_sample() {
    std::array<double, 2> decision{1, 1};  // go on?, batch
    if (sampling_) {
        co_await conclude_sample();
        decision = {sampler_.done() ? 0.0 : 1.0, static_cast<double>(sampler_.batch())};
        co_await control_.broadcast(decision);
    } else {
        sampling_ = true;
        began_ = control_.now();
    }
    if (decision[0] == 0) co_return false;
    batch_ = static_cast<long>(decision[1]);
    std::ranges::fill(mine_, no_value);
    elapsed_ = 0;  // a rank that does not time this sample has no say in how long it took
    co_await control_.align();
    co_return true;
}

Task<> Run::conclude_sample() {
    mine_[0] = elapsed_;
    co_await control_.gather(mine_, all_);
    if (control_.rank() != 0) co_return;
    const std::size_t width = mine_.size();
    const auto column = [&](std::size_t index) {
        std::vector<double> values;
        for (std::size_t at = index; at < all_.size(); at += width) values.push_back(all_[at]);
        return values;
    };
    std::vector<double> folded;
    for (std::size_t i = 0; i < benchmark_.metrics.size(); ++i)
        folded.push_back(fold(benchmark_.metrics[i].over, column(i + 1)));
    sampler_.take(fold(Over::largest, column(0)), folded, control_.now() - began_);
}

void Run::sample(std::string_view metric, double value) {
    const auto found = std::ranges::find(benchmark_.metrics, metric, &Metric::name);
    if (found == benchmark_.metrics.end())
        throw std::logic_error("benchmark " + benchmark_.name + " declares no metric '" +
                               std::string(metric) + "'");
    mine_[static_cast<std::size_t>(found - benchmark_.metrics.begin()) + 1] = value;
}

}  // namespace leadline
