#include "harness/run.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <numeric>
#include <utility>

namespace leadline {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t doubled = 1U << 30U;  // B; larger buffers are as large as was asked
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
        if constexpr (!Control::computes) {
            if (bytes < doubled) bytes = std::bit_ceil(bytes);  // of many sizes few outgrow the last
            if (held.memory) outgrown_.push_back(std::exchange(held, Slot{}));
        }
        held.memory.reset();
        held.memory.reset(static_cast<std::byte*>(std::aligned_alloc(page, round_up(bytes, page))));
        if (!held.memory) {
            held.bytes = 0;
            const std::string reason = "there is no memory for a buffer of " + std::to_string(bytes) + " B";
            if constexpr (!Control::computes) Run::skip(reason);  // one process plays all ranks, all alike
            throw std::runtime_error(reason);
        }
        held.bytes = bytes;
        // A simulated message is only time: its bytes are never touched.
        if constexpr (Control::computes) std::fill_n(held.memory.get(), bytes, std::byte{1});
    }
    return held.memory.get();
}

double fold(Over over, const std::vector<double>& all, std::size_t first, std::size_t step) {
    std::size_t given = 0;
    double sum = 0;
    double largest = no_value;
    double smallest = no_value;
    for (std::size_t at = first; at < all.size(); at += step) {
        const double value = all[at];
        if (std::isnan(value)) continue;
        ++given;
        sum += value;
        largest = std::fmax(largest, value);
        smallest = std::fmin(smallest, value);
    }
    if (given == 0) return no_value;
    switch (over) {
        case Over::root: return all[first];
        case Over::largest: return largest;
        case Over::smallest: return smallest;
        case Over::sum: return sum;
        case Over::mean: return sum / static_cast<double>(given);
    }
    return no_value;
}

Run::Run(SharedPoint& asked, Comm world, Control control)
    : asked_(&asked),
      world_(std::move(world)),
      control_(std::move(control)),
      mine_(asked.benchmark.metrics.size()) {}

void Values::clear() { std::fill_n(data(), count_, no_value); }

const Value& Run::value(std::string_view sweep) const {
    const auto found = asked_->point.find(sweep);
    if (found == asked_->point.end())
        throw std::logic_error("benchmark " + asked_->benchmark.name + " has no sweep '" +
                               std::string(sweep) + "' at this point");
    return found->second;
}

std::int64_t Run::operator[](std::string_view sweep) const { return std::get<std::int64_t>(value(sweep)); }

const std::string& Run::word(std::string_view sweep) const { return std::get<std::string>(value(sweep)); }

Buffers Run::buffers(std::int64_t bytes, std::int64_t count) {
    const auto size = static_cast<std::size_t>(bytes);
    const auto many = std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)));
    const std::size_t stride = stride_of(size);
    return {asked_->arena.reserve(arena_slot_++, stride * many), size, stride, many};
}

std::size_t Run::rotation() {
    constexpr std::size_t least = std::size_t{16} << 20U;
    if constexpr (!Control::computes) return least;  // a described machine's messages touch no memory
    static const std::size_t footprint = std::clamp(2 * last_level_cache(), least, most_rotated);
    return footprint;
}

Buffers Run::buffers(std::int64_t bytes, const std::string& use) {
    if (use == "reused") return buffers(bytes, 1);
    const auto count = std::max<std::size_t>(rotation() / stride_of(static_cast<std::size_t>(bytes)), 2);
    return buffers(bytes, static_cast<std::int64_t>(std::bit_floor(count)));
}

bool Run::begin_sample(Verdict verdict) {
    // Here all ranks have come: one that gets its buffers late would else spend the time of the point.
    if (!sampling_) asked_->began = control_.now();
    sampling_ = true;
    if (asked_->first_sample) std::exchange(asked_->first_sample, nullptr)();
    if (verdict.more == 0) return false;
    asked_->batch = static_cast<std::int64_t>(verdict.batch);
    mine_.clear();
    mine_[0] = 0;  // a rank that does not time this sample has no say in how long it took
    return true;
}

Verdict Run::decide(const std::vector<double>& all) {
    Sampler& sampler = asked_->sampler;
    if (!sampling_) return {1, static_cast<double>(sampler.batch())};
    const auto& metrics = asked_->benchmark.metrics;
    const std::size_t width = metrics.size() + 1;
    const auto folded = [&](std::size_t index, Over over) { return fold(over, all, index, width); };
    std::vector<double> sample;
    for (std::size_t i = 0; i < metrics.size(); ++i) sample.push_back(folded(i + 1, metrics[i].over));
    if (asked_->isolated) {
        asked_->late.push_back(folded(0, Over::largest));
        asked_->clock_error = std::max(asked_->clock_error, control_.clock_error());
    }
    sampler.take(folded(0, Over::largest), sample, control_.now() - asked_->began);
    return {sampler.done() ? 0.0 : 1.0, static_cast<double>(sampler.batch())};
}

void Run::verify(bool right, const std::string& wrong) {
    if (!right && verifies() && !asked_->wrong) asked_->wrong = wrong;
}

void Run::sample(std::string_view metric, double value) {
    const auto& metrics = asked_->benchmark.metrics;
    const auto found = std::ranges::find(metrics, metric, &Metric::name);
    if (found == metrics.end())
        throw std::logic_error("benchmark " + asked_->benchmark.name + " declares no metric '" +
                               std::string(metric) + "'");
    mine_[static_cast<std::size_t>(found - metrics.begin()) + 1] = value;
}

}  // namespace leadline
