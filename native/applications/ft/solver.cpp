#include "applications/ft/solver.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace leadline::ft {
namespace {

constexpr int arrays = 3;  // of a rank's part of the grid: the state, what leaves (unless fused), what lands

double logarithm(std::int64_t length) {
    return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(length)) - 1);
}

// What transforms of one length need: 5 n log2 n operations a line (as NAS counts them), and each point read
// from memory and written back once.
Work transforming(std::int64_t points, std::int64_t length) {
    const auto all = static_cast<double>(points);
    return {.flops = 5 * all * logarithm(length), .bytes = 2 * all * number};
}

// The multiplications of the evolution: a factor that is a product, times both halves; memory is read anyway.
Work evolving(std::int64_t points) { return {.flops = 3 * static_cast<double>(points), .bytes = 0}; }

// Two numbers a point, each by a product and a mask, written once.
Work beginning(std::int64_t points) {
    const auto all = static_cast<double>(points);
    return {.flops = 8 * all, .bytes = all * number};
}

std::int64_t part_of(const Problem& problem, std::int64_t ranks) { return problem.points() / ranks; }

}  // namespace

std::int64_t Solver::memory(const Problem& problem, int ranks, const Options& options) {
    return memory_of(problem, ranks, options.fused ? arrays - 1 : arrays);
}

Solver::Solver(Run& run, const Problem& problem, const Options& options)
    : run_(run),
      problem_(problem),
      options_(options),
      ranks_(run.ranks()),
      rank_(run.rank()),
      forth_{problem.nx, problem.nz, problem.ny, ranks_, options.pieces, options.padding},
      back_{problem.nz, problem.nx, problem.ny, ranks_, options.pieces, options.padding},
      split_(run),
      computes_(!Control::simulated && run.verifies()) {}

Task<> Solver::open() {
    const std::int64_t landing = std::max(forth_.landing_points(), back_.landing_points());
    const auto reserved = [&](std::int64_t points) {
        // A machine that is played takes no memory; a simulated one takes none that is touched.
        const std::int64_t bytes = computes_ || Control::simulated ? points * number : number;
        return reinterpret_cast<Complex*>(run_.buffers(bytes)[0].data());
    };
    grid_ = reserved(part_of(problem_, ranks_));
    const std::int64_t plane = std::max(problem_.nx, problem_.nz) * (problem_.ny + options_.padding);
    if (!options_.fused) leaving_ = reserved(part_of(problem_, ranks_));
    plane_ = reserved(options_.fused ? 2 * plane : plane);
    if (options_.window) {
        // What lands on a described machine is only time.
        const auto size = static_cast<std::size_t>(computes_ ? landing * number : 1);
        window_ = co_await run_.world().window(size, *options_.window);
        landed_ = reinterpret_cast<Complex*>(window_->local().data());
    } else {
        landed_ = reserved(landing);
    }
    if (computes_) {
        for (const auto sign : {Transform::Sign::forward, Transform::Sign::inverse})
            for (const std::int64_t length : {problem_.nx, problem_.ny, problem_.nz})
                transforms_.push_back(std::make_unique<Transform>(length, sign));
        tile_.resize(static_cast<std::size_t>(std::max(problem_.nx, problem_.nz) * tile));
    } else {
        transforms_.resize(6);
    }
}

Task<> Solver::close() {
    if (window_) co_await window_->free();
}

Task<> Solver::solve() {
    split_.begin();
    checksums_.clear();
    const std::int64_t points = part_of(problem_, ranks_);
    co_await compute(beginning(points),
                     [&] { initial(problem_, rank_ * forth_.planes(), forth_.planes(), grid_); });
    split_.lap(Spent::evolve);
    enum : std::size_t { x, y, z, back };
    const auto the = [&](std::size_t which) { return transforms_[which].get(); };
    co_await transform({forth_, the(z), the(y), the(x), nullptr});
    const auto kept = [&] {  // the state in wave numbers, as planes of z
        for (std::int64_t b = 0; b < forth_.rows(); ++b)
            for (std::int64_t a = 0; a < forth_.na; ++a)
                std::copy_n(landed_ + forth_.landing(a, b), forth_.ny,
                            grid_ + (b * forth_.na + a) * forth_.ny);
    };
    const Work copy{.bytes = 2.0 * static_cast<double>(points * number)};
    co_await compute(copy, kept);
    split_.lap(Spent::transpose);
    co_await run_.world().barrier();  // nothing lands before everybody has taken out what did
    split_.lap(Spent::barrier);
    for (int step = 1; step <= options_.iterations; ++step) {
        messages_ = bytes_ = 0;
        std::optional<Evolution> evolution;
        if (computes_) evolution.emplace(problem_, step);
        co_await transform(
            {back_, the(back + x), the(back + y), the(back + z), evolution ? &*evolution : nullptr});
        co_await sum_up();
    }
}

Task<> Solver::transform(Going going) {
    const Shape& shape = going.shape;
    const bool posts = shape.pieces != Pieces::exchange && !options_.window;
    round_ = options_.depth == 0 ? shape.messages() : std::max<std::int64_t>(1, options_.depth / 3);
    if (posts) {
        post(shape, 0);
        post(shape, 1);
        split_.lap(Spent::initiation);
    }
    co_await planes(going);
    if (shape.pieces == Pieces::exchange && !options_.window) co_await all_to_all(shape);
    else co_await settle();
    co_await last(going);
}

Task<> Solver::planes(const Going& going) {
    const Shape& shape = going.shape;
    const bool exchanged = shape.pieces == Pieces::exchange;
    const std::int64_t a_plane = shape.nb / shape.piece();
    const std::int64_t all = shape.planes() * a_plane;
    Work columns = transforming(shape.nb * shape.ny, shape.nb);
    if (&shape == &back_) columns.flops += evolving(shape.nb * shape.ny).flops;
    const Work row = transforming(shape.piece() * shape.ny, shape.ny);
    for (std::int64_t at = 0; at < all; ++at) {
        const Step step = step_of(shape, at);
        if (at % a_plane == 0) {
            if (options_.fused && step.plane > 1) co_await arrive();
            co_await compute(columns, [&] { plane(going, step.plane); });
            split_.lap(Spent::fft);
        }
        co_await compute(row, [&] { rows(going, step); });
        split_.lap(Spent::fft);
        if (exchanged) continue;
        co_await hand(shape, step);
        if (!options_.window && (at + 1) % round_ == 0) {
            const std::int64_t over = at / round_;
            if (over > 0) co_await finish(over - 1);
            split_.lap(Spent::completion);
            post(shape, over + 2);
        }
        split_.lap(Spent::initiation);
    }
    if (!exchanged || !options_.window) co_return;
    for (std::int64_t turn = 0; turn < ranks_; ++turn) co_await hand(shape, {0, 0, turn});
    split_.lap(Spent::initiation);
}

// A plane out of the state, row after row as memory streams best, and its columns along b within the cache.
void Solver::plane(const Going& going, std::int64_t p) {
    const Shape& shape = going.shape;
    const std::int64_t pitch = shape.ny + shape.padding;
    const Complex* from = grid_ + p * shape.nb * shape.ny;
    Complex* to = plane_of(shape, p);
    const double own = going.evolution ? going.evolution->z(rank_ * shape.planes() + p) : 1;
    for (std::int64_t b = 0; b < shape.nb; ++b) {
        const Complex* row = from + b * shape.ny;
        if (going.evolution)
            scale(row, own * going.evolution->x(b), going.evolution->y(), shape.ny, to + b * pitch);
        else std::copy_n(row, shape.ny, to + b * pitch);
    }
    split_.lap(going.evolution ? Spent::evolve : Spent::transpose);
    columns(*going.along_b, to, shape.nb, pitch, shape.ny);
}

// Transforms columns that stand beside each other, a tile of them at a time; the next one is on its way
// meanwhile, which no prefetcher would guess.
void Solver::columns(Transform& along, Complex* from, std::int64_t length, std::int64_t pitch,
                     std::int64_t width) {
    for (std::int64_t y = 0; y < width; y += tile) {
        Complex* at = from + y;
        for (std::int64_t i = 0; i < length; ++i) {
            std::copy_n(at + i * pitch, tile, tile_.data() + i * tile);
            __builtin_prefetch(at + i * pitch + tile, 1);
            __builtin_prefetch(at + i * pitch + tile + tile / 2, 1);
        }
        split_.lap(Spent::transpose);
        along.columns(tile_.data());
        split_.lap(Spent::fft);
        for (std::int64_t i = 0; i < length; ++i) std::copy_n(tile_.data() + i * tile, tile, at + i * pitch);
        split_.lap(Spent::transpose);
    }
}

// What is put out of the cache stays as it is until it has arrived: two planes take turns.
Complex* Solver::plane_of(const Shape& shape, std::int64_t p) const {
    return plane_ + (options_.fused ? p % 2 : 0) * shape.nb * (shape.ny + shape.padding);
}

// The rows of a message along y, and to where they leave from; a rank's own go to where they land.
void Solver::rows(const Going& going, const Step& step) {
    const Shape& shape = going.shape;
    const std::int64_t receiver = (rank_ + step.turn) % ranks_;
    const bool own = step.turn == 0 && shape.pieces != Pieces::exchange;
    for (std::int64_t i = 0; i < shape.piece(); ++i) {
        const std::int64_t b = receiver * shape.rows() + step.row + i;
        Complex* row = plane_of(shape, step.plane) + b * (shape.ny + shape.padding);
        going.along_y->row(row);
        split_.lap(Spent::fft);
        if (options_.fused && !own) continue;
        Complex* to = own ? landed_ + shape.landing(rank_ * shape.planes() + step.plane, step.row + i)
                          : leaving_ + shape.leaving(step.plane, b);
        std::copy_n(row, shape.ny, to);
        split_.lap(Spent::transpose);
    }
}

// All ranks go by the same order, each beginning with itself: nobody's messages all meet at one receiver.
Solver::Step Solver::step_of(const Shape& shape, std::int64_t number) const {
    const std::int64_t in_turn = number / ranks_;
    const std::int64_t each = shape.rows() / shape.piece();
    return {in_turn / each, in_turn % each * shape.piece(), number % ranks_};
}

Bytes Solver::bytes_at(Complex* memory, std::int64_t from, std::int64_t points) const {
    return {reinterpret_cast<std::byte*>(memory + from), static_cast<std::size_t>(points * number)};
}

Task<> Solver::hand(const Shape& shape, const Step& step) {
    const bool exchanged = shape.pieces == Pieces::exchange;
    const std::int64_t receiver = (rank_ + step.turn) % ranks_;
    const std::int64_t points = (exchanged ? shape.planes() : 1) * shape.piece() * shape.ny;
    ++messages_;
    bytes_ += points * number;
    const std::int64_t from = shape.leaving(step.plane, receiver * shape.rows() + step.row);
    const std::int64_t to = shape.landing(rank_ * shape.planes() + step.plane, step.row);
    const std::int64_t b = receiver * shape.rows() + step.row;
    const Bytes data = options_.fused
                           ? bytes_at(plane_of(shape, step.plane), b * (shape.ny + shape.padding), points)
                           : bytes_at(leaving_, from, points);
    if (step.turn == 0) {
        if (computes_ && exchanged) std::copy_n(leaving_ + from, points, landed_ + to);
    } else if (options_.window) {
        co_await window_->put(data, static_cast<int>(receiver), static_cast<std::size_t>(to * number));
    } else {
        const std::int64_t round =
            ((step.plane * shape.rows() + step.row) / shape.piece() * ranks_ + step.turn) / round_;
        rounds_[static_cast<std::size_t>(round % 3)].sends.push_back(
            run_.world().isend(data, static_cast<int>(receiver)));
    }
}

// The receives of a round: what comes in its steps, from the rank that is as far behind as the step's
// receiver is ahead.
void Solver::post(const Shape& shape, std::int64_t round) {
    Posted& posted = rounds_[static_cast<std::size_t>(round % 3)];
    const std::int64_t all = shape.messages();
    for (std::int64_t at = round * round_; at < std::min(all, (round + 1) * round_); ++at) {
        const Step step = step_of(shape, at);
        if (step.turn == 0) continue;
        const std::int64_t sender = (rank_ + ranks_ - step.turn) % ranks_;
        const Bytes to = bytes_at(landed_, shape.landing(sender * shape.planes() + step.plane, step.row),
                                  shape.piece() * shape.ny);
        posted.receives.push_back(run_.world().irecv(to, static_cast<int>(sender)));
    }
}

Task<> Solver::finish(std::int64_t round) {
    Posted& posted = rounds_[static_cast<std::size_t>(round % 3)];
    co_await run_.world().wait_all(posted.receives);
    co_await run_.world().wait_all(posted.sends);
    posted.receives.clear();
    posted.sends.clear();
}

Task<> Solver::all_to_all(const Shape& shape) {
    messages_ += ranks_;
    bytes_ += shape.points() * number;
    const Bytes out = bytes_at(leaving_, 0, shape.points());
    const Bytes in = bytes_at(landed_, 0, shape.points());
    const Call call{.what = Collective::alltoall, .out = out, .in = in};
    co_await run_.world().collective(call);
    split_.lap(Spent::completion);
}

// All that was put has arrived.
Task<> Solver::arrive() {
    for (std::int64_t turn = 1; turn < ranks_; ++turn)
        co_await window_->flush(static_cast<int>((rank_ + turn) % ranks_));
    split_.lap(Spent::completion);
}

// All that was handed over has landed, here as well.
Task<> Solver::settle() {
    if (options_.window) {
        for (std::int64_t turn = 1; turn < ranks_; ++turn)
            co_await window_->notify(static_cast<int>((rank_ + turn) % ranks_));
        notices_ += ranks_ - 1;
        co_await window_->notified(notices_);
    } else {
        for (std::int64_t round = 0; round < 3; ++round) co_await finish(round);
    }
    split_.lap(Spent::completion);
}

// The last transforms, along a, where the points landed: a tile of columns at a time.
Task<> Solver::last(const Going& going) {
    const Shape& shape = going.shape;
    const auto along = [&] {
        const bool pencils = shape.pieces == Pieces::pencils;
        const std::int64_t pitch = pencils ? shape.ny + shape.padding : shape.slab();
        const std::int64_t blocks = pencils ? shape.rows() : 1;
        const std::int64_t width = shape.rows() / blocks * shape.ny;
        for (std::int64_t b = 0; b < blocks; ++b)
            columns(*going.along_a, landed_ + b * shape.na * pitch, shape.na, pitch, width);
    };
    co_await compute(transforming(shape.points(), shape.na), along);
    split_.lap(Spent::fft);
}

Task<> Solver::sum_up() {
    std::array<double, 2> mine{};
    std::array<double, 2> all{};
    const Work work{.flops = 2.0 * 1024 / static_cast<double>(ranks_)};
    co_await compute(work, [&] {
        const Complex sum = partial_checksum(problem_, back_, rank_, landed_);
        mine = {sum.real(), sum.imag()};
    });
    split_.lap(Spent::evolve);
    const Bytes from = std::as_writable_bytes(std::span(mine));
    const Bytes to = std::as_writable_bytes(std::span(all));
    co_await run_.world().allreduce(from, to, Type::float64, Reduce::sum);
    if (computes_) checksums_.emplace_back(all[0], all[1]);
    split_.lap(Spent::barrier);
}

}  // namespace leadline::ft
