#include "applications/ft/planes.hpp"

#include <algorithm>
#include <cstddef>

namespace leadline::ft {

Planes::Planes(Run& run, const Problem& problem, const Options& options)
    : Solver(run, problem, options),
      forth_{problem.nx, problem.nz, problem.ny, ranks_, options.pieces, options.padding},
      back_{problem.nz, problem.nx, problem.ny, ranks_, options.pieces, options.padding} {}

Task<> Planes::open() {
    const std::int64_t landing = std::max(forth_.landing_points(), back_.landing_points());
    grid_ = reserved(part_of(problem_, ranks_));
    const std::int64_t plane = std::max(problem_.nx, problem_.nz) * (problem_.ny + options_.padding);
    leaving_ = reserved(part_of(problem_, ranks_));
    plane_ = reserved(plane);
    if (options_.window) {
        const auto size = exposed(landing);
        window_ = co_await run_.world().window(size, *options_.window);
    }
    // What lands on a described machine is only time, and no window's memory is needed.
    landed_ = window_ && Control::computes ? reinterpret_cast<Complex*>(window_->local().data())
                                           : reserved(landing);
    if (computes_) {
        for (const auto sign : {Transform::Sign::forward, Transform::Sign::inverse})
            for (const std::int64_t length : {problem_.nx, problem_.ny, problem_.nz})
                transforms_.push_back(
                    std::make_unique<Transform>(length, sign, Transform::Use::planes, options_.vectors));
        tile_ = reserved(std::max(problem_.nx, problem_.nz) * tile);
    } else {
        transforms_.resize(6);
    }
}

Task<> Planes::close() {
    if (window_) co_await window_->free();
}

Task<> Planes::solve() {
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
        Complex mine = 0;
        const Work work{.flops = 2.0 * 1024 / static_cast<double>(ranks_)};
        co_await compute(work, [&] { mine = partial_checksum(problem_, back_, rank_, landed_); });
        split_.lap(Spent::evolve);
        co_await sum_up(mine);
    }
}

Task<> Planes::handed_over() { co_await transform({back_, nullptr, nullptr, nullptr, nullptr}); }

Task<> Planes::transform(Going going) {
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
    else co_await ended();
    co_await last(going);
}

Task<> Planes::planes(const Going& going) {
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
void Planes::plane(const Going& going, std::int64_t p) {
    const Shape& shape = going.shape;
    const std::int64_t pitch = shape.ny + shape.padding;
    const Complex* from = grid_ + p * shape.nb * shape.ny;
    Complex* to = plane_;
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
void Planes::columns(Transform& along, Complex* from, std::int64_t length, std::int64_t pitch,
                     std::int64_t width) {
    for (std::int64_t y = 0; y < width; y += tile) {
        Complex* at = from + y;
        for (std::int64_t i = 0; i < length; ++i) {
            std::copy_n(at + i * pitch, tile, tile_ + i * tile);
            __builtin_prefetch(at + i * pitch + tile, 1);
            __builtin_prefetch(at + i * pitch + tile + tile / 2, 1);
        }
        split_.lap(Spent::transpose);
        along.columns(tile_);
        progress();
        split_.lap(Spent::fft);
        for (std::int64_t i = 0; i < length; ++i) std::copy_n(tile_ + i * tile, tile, at + i * pitch);
        split_.lap(Spent::transpose);
    }
}

// Lets a library that makes no progress by itself work on what is under way: asks for the last that was
// begun.
void Planes::progress() {
    if constexpr (Control::computes) {  // there nothing is computed tile by tile, and all progresses
        if (options_.polls == 0 || ++tiles_ % options_.polls != 0) return;
        split_.lap(Spent::fft);
        for (Posted& posted : rounds_)
            if (!posted.receives.empty()) (void)run_.world().test(posted.receives.back());
        split_.lap(Spent::completion);
    }
}

// The rows of a message along y, and to where they leave from; a rank's own go to where they land.
void Planes::rows(const Going& going, const Step& step) {
    const Shape& shape = going.shape;
    const std::int64_t receiver = (rank_ + step.turn) % ranks_;
    const bool own = step.turn == 0 && shape.pieces != Pieces::exchange;
    for (std::int64_t i = 0; i < shape.piece(); ++i) {
        const std::int64_t b = receiver * shape.rows() + step.row + i;
        Complex* row = plane_ + b * (shape.ny + shape.padding);
        going.along_y->row(row);
        split_.lap(Spent::fft);
        Complex* to = own ? landed_ + shape.landing(rank_ * shape.planes() + step.plane, step.row + i)
                          : leaving_ + shape.leaving(step.plane, b);
        std::copy_n(row, shape.ny, to);
        split_.lap(Spent::transpose);
    }
}

// All ranks go by the same order, each beginning with itself: nobody's messages all meet at one receiver.
Planes::Step Planes::step_of(const Shape& shape, std::int64_t number) const {
    const std::int64_t in_turn = number / ranks_;
    const std::int64_t each = shape.rows() / shape.piece();
    return {in_turn / each, in_turn % each * shape.piece(), number % ranks_};
}

Bytes Planes::bytes_at(Complex* memory, std::int64_t from, std::int64_t points) const {
    return {reinterpret_cast<std::byte*>(memory + from), static_cast<std::size_t>(points * number)};
}

Task<> Planes::hand(const Shape& shape, const Step& step) {
    const bool exchanged = shape.pieces == Pieces::exchange;
    const std::int64_t receiver = (rank_ + step.turn) % ranks_;
    const std::int64_t points = (exchanged ? shape.planes() : 1) * shape.piece() * shape.ny;
    ++messages_;
    bytes_ += points * number;
    const std::int64_t from = shape.leaving(step.plane, receiver * shape.rows() + step.row);
    const std::int64_t to = shape.landing(rank_ * shape.planes() + step.plane, step.row);
    const Bytes data = bytes_at(leaving_, from, points);
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
void Planes::post(const Shape& shape, std::int64_t round) {
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

Task<> Planes::finish(std::int64_t round) {
    Posted& posted = rounds_[static_cast<std::size_t>(round % 3)];
    co_await run_.world().wait_all(posted.receives);
    co_await run_.world().wait_all(posted.sends);
    posted.receives.clear();
    posted.sends.clear();
}

Task<> Planes::all_to_all(const Shape& shape) {
    messages_ += ranks_;
    bytes_ += shape.points() * number;
    const Bytes out = bytes_at(leaving_, 0, shape.points());
    const Bytes in = bytes_at(landed_, 0, shape.points());
    const Call call{.what = Collective::alltoall, .out = out, .in = in};
    co_await run_.world().collective(call);
    split_.lap(Spent::completion);
}

// All that was handed over has landed, here as well.
Task<> Planes::ended() {
    if (window_) co_await settle(*window_);
    else
        for (std::int64_t round = 0; round < 3; ++round) co_await finish(round);
    split_.lap(Spent::completion);
}

// The last transforms, along a, where the points landed: a tile of columns at a time.
Task<> Planes::last(const Going& going) {
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

}  // namespace leadline::ft
