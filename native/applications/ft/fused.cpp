#include "applications/ft/fused.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "applications/ft/grid.hpp"
#include "applications/ft/random.hpp"

namespace leadline::ft {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{512}
                                     << 10;  // B, of a batch: with tiles, within a second cache
constexpr std::size_t line = 64;             // B, of a cache
enum : std::size_t { along_x, along_y, along_z, backwards };

double* numbers(Complex* points) { return reinterpret_cast<double*>(points); }
const double* numbers(const Complex* points) { return reinterpret_cast<const double*>(points); }

}  // namespace

std::string Fused::refusal(const Problem& problem, std::int64_t ranks) {
    if (problem.nz / ranks % abreast == 0) return {};
    return "fused takes " + std::to_string(abreast) + " planes of z at a time, and class " +
           std::string(problem.name) + " has " + std::to_string(problem.nz / ranks) + " for each of " +
           std::to_string(ranks) + " ranks: take fewer ranks";
}

Fused::Fused(Run& run, const Problem& problem, const Options& options)
    : Solver(run, problem, options),
      xs_(problem.nx / ranks_),
      groups_(problem.nz / ranks_ / abreast),
      all_groups_(problem.nz / abreast),
      deep_(std::clamp<std::int64_t>(batch_bytes / (problem.nx * abreast * number), 1, problem.ny)),
      pitch_((problem.nz + 1) * abreast) {}

Task<> Fused::open() {
    const std::int64_t part = part_of(problem_, ranks_);
    state_ = reserved(part);
    planes_ = reserved(2 * pitch_ * (problem_.ny / abreast + 1));
    batches_ = reserved(2 * problem_.nx * (deep_ + 1) * abreast);
    tile_ = reserved(std::max({problem_.nx, problem_.ny, problem_.nz}) * abreast);
    co_await expose(part);
    if (!computes_) co_return;
    for (std::size_t i = 0; i < transforms_.size(); ++i) {
        const std::array<std::int64_t, 3> lengths{problem_.nx, problem_.ny, problem_.nz};
        const auto sign = i < backwards ? Transform::Sign::forward : Transform::Sign::inverse;
        transforms_[i] =
            std::make_unique<Transform>(lengths[i % 3], sign, Transform::Use::lines, options_.vectors);
    }
    picked_.resize(static_cast<std::size_t>(xs_));
    for (const auto& [x, y, z] : summed(problem_))
        if (x / xs_ == rank_)
            picked_[static_cast<std::size_t>(x % xs_)].push_back({y / abreast, z * abreast + y % abreast});
    for (auto& all : picked_) std::ranges::sort(all, {}, [](const Picked& each) { return each.tile; });
}

// The window, from the first cache line on that each rank's begins: a library's own begin anywhere.
Task<> Fused::expose(std::int64_t points) {
    window_ = co_await run_.world().window(exposed(points) + line, *options_.window);
    const auto ranks = static_cast<std::size_t>(ranks_);
    std::vector<std::int64_t> mine(ranks, 0);
    shifts_.assign(ranks, 0);
    // What lands on a described machine is only time, and no window's memory is needed.
    std::byte* const begin =
        Control::computes ? window_->local().data() : reinterpret_cast<std::byte*>(reserved(points + 1));
    const auto over = reinterpret_cast<std::uintptr_t>(begin) % line;
    mine[static_cast<std::size_t>(rank_)] = static_cast<std::int64_t>((line - over) % line);
    const Bytes from = std::as_writable_bytes(std::span(mine));
    const Bytes to = std::as_writable_bytes(std::span(shifts_));
    co_await run_.world().allreduce(from, to, Type::int64, Reduce::sum);
    const auto behind = [&](std::byte* memory, int rank) {
        return reinterpret_cast<Complex*>(memory + shifts_[static_cast<std::size_t>(rank)]);
    };
    landed_ = behind(begin, run_.rank());
    reach_.assign(ranks, nullptr);
    reach_[static_cast<std::size_t>(rank_)] = landed_;
    if (!options_.stores()) co_return;
    for (int rank = 0; rank < run_.ranks(); ++rank)
        if (rank != run_.rank())
            reach_[static_cast<std::size_t>(rank)] = behind(window_->reach(rank).data(), rank);
}

Task<> Fused::close() { co_await window_->free(); }

Task<> Fused::solve() {
    split_.begin();
    checksums_.clear();
    co_await there();
    for (int step = 1; step <= options_.iterations; ++step) {
        messages_ = bytes_ = 0;
        co_await back(step);
    }
}

// So many points to where they land at a rank: stored there, or put. What is put stays until it has arrived.
Task<> Fused::hand(const Complex* from, std::int64_t points, std::int64_t receiver, std::int64_t to) {
    ++messages_;
    bytes_ += points * number;
    Complex* reach = reach_[static_cast<std::size_t>(receiver)];
    if (reach) {
        if (computes_) vectors().stream(numbers(from), numbers(reach + to), 2 * points);
        co_return;
    }
    const Bytes data = {reinterpret_cast<std::byte*>(const_cast<Complex*>(from)),
                        static_cast<std::size_t>(points * number)};
    co_await window_->put(
        data, static_cast<int>(receiver),
        static_cast<std::size_t>(shifts_[static_cast<std::size_t>(receiver)] + to * number));
}

// All that was put of what is going to be used anew has arrived.
Task<> Fused::arrive() {
    if (options_.stores()) co_return;
    for (std::int64_t turn = 1; turn < ranks_; ++turn)
        co_await window_->flush(static_cast<int>((rank_ + turn) % ranks_));
}

// The initial state plane by plane of x, each transformed along z and y; then along x where planes of z
// landed.
Task<> Fused::there() {
    const std::int64_t plane = problem_.ny * problem_.nz;
    for (std::int64_t x = 0; x < xs_; ++x) {
        Complex* at = planes_ + x % 2 * pitch_ * (problem_.ny / abreast + 1);
        if (x > 1) co_await arrive();
        split_.lap(Spent::completion);
        Work work = transforming(plane, problem_.nz);
        work.flops += transforming(plane, problem_.ny).flops + beginning(plane).flops;
        co_await compute(work, [&] { begin_plane(rank_ * xs_ + x, at); });
        split_.lap(Spent::fft);
        for (std::int64_t i = 0; i < all_groups_; ++i) {
            const std::int64_t group = (rank_ * groups_ + i) % all_groups_;  // its own ones first
            const std::int64_t to = ((rank_ * xs_ + x) * groups_ + group % groups_) * problem_.ny * abreast;
            co_await hand(at + group * problem_.ny * abreast, problem_.ny * abreast, group / groups_, to);
        }
        split_.lap(Spent::initiation);
    }
    drain_stores();
    co_await settle(*window_);
    split_.lap(Spent::completion);
    co_await compute(transforming(part_of(problem_, ranks_), problem_.nx), [&] { tiles_of_state(); });
    split_.lap(Spent::fft);
    co_await run_.world().barrier();  // nothing lands before everybody has taken out what did
    split_.lap(Spent::barrier);
}

// A plane of the initial state in groups of z: [group][y][z].
void Fused::begin_plane(std::int64_t x, Complex* to) {
    const auto& [name, nx, ny, nz, iterations, checksums] = problem_;
    for (std::int64_t y = 0; y < ny; y += abreast) {
        std::array<std::int64_t, static_cast<std::size_t>(abreast)> starts{};
        for (std::int64_t k = 0; k < abreast; ++k)
            starts[static_cast<std::size_t>(k)] = 2 * ((y + k) * nx + x);
        fill_abreast(starts, 2 * nx * ny, nz, tile_);
        const From from{numbers(tile_), halves};
        transforms_[along_z]->abreast(from, {numbers(tile_), halves}, {});
        vectors().turn(from, nz, {numbers(to + y * abreast), ny * halves});
    }
    for (std::int64_t group = 0; group < all_groups_; ++group) {
        double* at = numbers(to + group * ny * abreast);
        transforms_[along_y]->abreast({at, halves}, {at, halves}, {});
    }
}

// The state, from what has landed.
void Fused::tiles_of_state() {
    const std::int64_t tiles = groups_ * problem_.ny;
    for (std::int64_t i = 0; i < tiles; ++i)
        transforms_[along_x]->abreast({numbers(landed_ + i * abreast), tiles * halves},
                                      {numbers(state_ + i * problem_.nx * abreast), halves}, {});
}

// The transform back along x, handed over batch by batch.
Task<> Fused::handed_over() {
    const std::int64_t room = problem_.nx * (deep_ + 1) * abreast;
    const std::int64_t points = problem_.nx * deep_ * abreast;
    Work work = transforming(points, problem_.nx);
    work.flops += evolving(points).flops;
    std::int64_t turn = 0;
    for (std::int64_t group = 0; group < groups_; ++group)
        for (std::int64_t y = 0; y < problem_.ny; y += deep_) {
            Complex* at = batches_ + turn++ % 2 * room;
            if (turn > 2) co_await arrive();
            split_.lap(Spent::completion);
            co_await compute(work, [&] { batch(group, y, at); });
            split_.lap(Spent::fft);
            for (std::int64_t i = 0; i < problem_.nx; ++i) {
                const std::int64_t x = (rank_ * xs_ + i) % problem_.nx;  // its own ones first
                const std::int64_t to =
                    ((x % xs_ * all_groups_ + rank_ * groups_ + group) * problem_.ny + y) * abreast;
                co_await hand(at + x * (deep_ + 1) * abreast, deep_ * abreast, x / xs_, to);
            }
            split_.lap(Spent::initiation);
        }
    drain_stores();
    co_await settle(*window_);
    split_.lap(Spent::completion);
}

// The transform back of the state as a step of the evolution has it, and its checksum.
Task<> Fused::back(int step) {
    if (computes_) evolve(step);
    co_await handed_over();
    Complex sum = 0;
    Work both = transforming(part_of(problem_, ranks_), problem_.ny);
    both.flops += transforming(part_of(problem_, ranks_), problem_.nz).flops;
    if (!options_.kept) both.bytes /= 2;
    co_await compute(both, [&] {
        for (std::int64_t x = 0; x < xs_; ++x) sum += plane(x);
        drain_stores();
    });
    split_.lap(Spent::fft);
    co_await sum_up(sum / static_cast<double>(problem_.points()));
}

void Fused::evolve(int step) {
    const Evolution evolution(problem_, step);
    factors_x_.resize(static_cast<std::size_t>(problem_.nx));
    for (std::int64_t x = 0; x < problem_.nx; ++x) factors_x_[static_cast<std::size_t>(x)] = evolution.x(x);
    factors_y_.assign(evolution.y(), evolution.y() + problem_.ny);
    factors_z_.clear();
    for (std::int64_t z = rank_ * groups_ * abreast; z < (rank_ + 1) * groups_ * abreast; ++z)
        factors_z_.insert(factors_z_.end(), 2, evolution.z(z));
    split_.lap(Spent::evolve);
}

// Tiles of successive y, multiplied and transformed along x: [x][y][z], rows a line longer than a power of
// two.
void Fused::batch(std::int64_t group, std::int64_t y, Complex* to) {
    alignas(64) std::array<double, static_cast<std::size_t>(halves)> lanes{};
    for (std::int64_t k = 0; k < deep_; ++k) {
        const double own = factors_y_[static_cast<std::size_t>(y + k)];
        for (std::size_t i = 0; i < lanes.size(); ++i)
            lanes[i] = own * factors_z_[static_cast<std::size_t>(group * halves) + i];
        const std::int64_t from = (group * problem_.ny + y + k) * problem_.nx * abreast;
        transforms_[backwards + along_x]->abreast(
            {numbers(state_ + from), halves}, {numbers(to + k * abreast), (deep_ + 1) * halves},
            {factors_x_.data(), lanes.data()}, numbers(state_ + from + problem_.nx * abreast));
    }
}

// A plane of x from what has landed, transformed along y and z; the sum of its points that are summed up.
Complex Fused::plane(std::int64_t x) {
    const auto& [name, nx, ny, nz, iterations, checksums] = problem_;
    Complex* landed = landed_ + x * ny * nz;
    const From tile{numbers(tile_), halves};
    for (std::int64_t group = 0; group < all_groups_; ++group) {
        const Complex* from = landed + group * ny * abreast;
        transforms_[backwards + along_y]->abreast({numbers(from), halves}, {numbers(tile_), halves}, {},
                                                  numbers(from + ny * abreast));
        vectors().turn(tile, ny, {numbers(planes_ + group * abreast * abreast), 2 * pitch_});
    }
    Complex sum = 0;
    auto picked = picked_[static_cast<std::size_t>(x)].begin();
    const auto end = picked_[static_cast<std::size_t>(x)].end();
    for (std::int64_t i = 0; i < ny / abreast; ++i) {
        const Complex* from = planes_ + i * pitch_;
        transforms_[backwards + along_z]->abreast({numbers(from), halves}, {numbers(tile_), halves}, {},
                                                  numbers(from + pitch_));
        for (; picked != end && picked->tile == i; ++picked) sum += tile_[picked->at];
        if (options_.kept) vectors().stream(numbers(tile_), numbers(landed + i * nz * abreast), nz * halves);
    }
    return sum;
}

}  // namespace leadline::ft
