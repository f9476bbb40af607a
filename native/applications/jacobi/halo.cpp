#include "applications/jacobi/halo.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace leadline::jacobi {
namespace {

// The points of a side that leave (`inside`) or arrive. For several sweeps it is as wide as the halo of the
// axes before it, whose points the axis then hands on around the corner.
Region face(const Division& division, std::size_t side, bool inside) {
    const Subdomain& part = division.part;
    const std::size_t axis = side / 2;
    Region region = part.whole();
    for (std::size_t other = 0; part.depth > 1 && other < axis; ++other) {
        if (part.goes_on[other][0]) region.from[other] -= part.depth;
        if (part.goes_on[other][1]) region.to[other] += part.depth;
    }
    const bool above = side % 2 == 1;
    Index from = above ? part.lengths[axis] : -part.depth;
    if (inside) from += above ? -part.depth : part.depth;
    region.from[axis] = from;
    region.to[axis] = from + part.depth;
    return region;
}

// Bytes of the largest side that any rank has, twice.
std::size_t two_sides(const Division& division) {
    const Index depth = division.part.depth;
    Index most = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const Index one = division.longest[(axis + 1) % 3] + 2 * depth;
        most = std::max(most, one * (division.longest[(axis + 2) % 3] + 2 * depth));
    }
    return 2 * sizeof(double) * static_cast<std::size_t>(most * depth);
}

double* numbers(Bytes bytes) { return reinterpret_cast<double*>(bytes.data()); }

}  // namespace

Halo::Halo(Run& run, Comm& comm, const Division& division, std::string form)
    : run_(run), comm_(comm), form_(std::move(form)), together_(division.part.depth == 1) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        // An axis with neighbours has them for some rank, if not for this one.
        const bool shared = division.grid[axis] > division.part.lengths[axis];
        if (!shared && !division.part.goes_on[axis][0]) continue;
        if (phases_.empty() || !together_) phases_.emplace_back();
        for (const std::size_t side : {2 * axis, 2 * axis + 1}) {
            phases_.back().push_back(side);
            Side& each = all_[side];
            each.peer = division.peers[axis][side % 2];
            each.itself = each.peer == comm.rank();
            each.out = face(division, side, true);
            each.in = face(division, side, false);
        }
    }
    give_room();
    window_ = two_sides(division);
}

void Halo::give_room() {
    const auto room = [](const Side& side) {
        return side.peer == nobody ? std::size_t{0}
                                   : static_cast<std::size_t>(side.out.points()) * sizeof(double);
    };
    std::size_t bytes = 0;
    for (const Side& side : all_) bytes += room(side);
    leaving_ = run_.buffers(static_cast<std::int64_t>(bytes))[0];
    arriving_ = run_.buffers(static_cast<std::int64_t>(bytes))[0];
    std::size_t at = 0;
    for (Side& side : all_) {
        side.leaving = leaving_.subspan(at, room(side));
        side.arriving = arriving_.subspan(at, room(side));
        at += room(side);
    }
}

std::int64_t Halo::bytes() const {
    std::int64_t all = 0;
    for (const Side& side : all_)
        if (side.speaks()) all += std::ssize(side.leaving);
    return all;
}

void Halo::make_exchange(const Phase& phase) {
    std::vector<PersistentMessage> sends;
    std::vector<PersistentMessage> receives;
    for (const std::size_t side : phase)
        if (const Side& each = all_[side]; each.speaks()) {
            sends.push_back({each.leaving, each.peer, static_cast<int>(side)});
            receives.push_back({each.arriving, each.peer, static_cast<int>(opposite(side))});
        }
    exchanges_.push_back(comm_.prepare_exchange(sends, receives));
}

void Halo::lay_out(const Phase& phase) {
    Layouts& made = layouts_.emplace_back();
    for (std::size_t side = 0; side < sides; ++side) {
        const Side& each = all_[side];
        const bool part = each.speaks() && std::ranges::find(phase, side) != phase.end();
        const auto bytes = part ? std::ssize(each.leaving) : std::ptrdiff_t{0};
        const auto offset = part ? each.leaving.data() - leaving_.data() : std::ptrdiff_t{0};
        made.gives.push_back({.peer = static_cast<int>(side), .bytes = bytes, .offset = offset});
    }
    made.takes = made.gives;
}

Task<> Halo::open_windows() {
    for (const Phase& phase : phases_)
        for (const std::size_t side : phase) {
            Comm::Window made = co_await comm_.window(window_, Exposure::allocated);
            windows_[side].emplace(std::move(made));
        }
}

Task<> Halo::open() {
    if (form_ == "one-sided") co_await open_windows();
    layouts_.reserve(phases_.size());
    for (const Phase& phase : phases_) {
        if (form_ == "persistent") make_exchange(phase);
        if (form_ != "collective") continue;
        lay_out(phase);
        const Call call{.what = Collective::neighbor_alltoall,
                        .out = leaving_,
                        .in = arriving_,
                        .gives = layouts_.back().gives,
                        .takes = layouts_.back().takes};
        Comm::Prepared made = co_await comm_.prepare(call, Form::blocking);
        calls_.push_back(std::move(made));
    }
}

// Down, then up, an axis at a time: where an end has one neighbour, it sends or receives alone.
Task<> Halo::shift(const Phase& phase) {
    for (const std::size_t side : phase) {
        Side& to = all_[side];
        Side& from = all_[opposite(side)];
        const int tag = static_cast<int>(side);
        if (to.speaks() && from.speaks())
            co_await comm_.sendrecv(to.leaving, to.peer, from.arriving, from.peer, tag);
        else if (to.speaks()) co_await comm_.send(to.leaving, to.peer, tag);
        else if (from.speaks()) co_await comm_.recv(from.arriving, from.peer, tag);
    }
}

void Halo::post(const Phase& phase) {
    requests_.clear();
    for (const std::size_t side : phase)
        if (const Side& each = all_[side]; each.speaks())
            requests_.push_back(comm_.irecv(each.arriving, each.peer, static_cast<int>(opposite(side))));
    for (const std::size_t side : phase)
        if (const Side& each = all_[side]; each.speaks())
            requests_.push_back(comm_.isend(each.leaving, each.peer, static_cast<int>(side)));
}

Task<> Halo::put(const Phase& phase) {
    for (const std::size_t side : phase) {
        const Side& each = all_[side];
        if (!each.speaks()) continue;
        Comm::Window& window = *windows_[opposite(side)];
        const std::size_t place = done_ % 2 == 0 ? 0 : each.leaving.size();
        co_await window.put(each.leaving, each.peer, place);
        co_await window.notify(each.peer);
    }
}

Task<> Halo::await_notices(const Phase& phase) {
    for (const std::size_t side : phase) {
        Side& each = all_[side];
        if (!each.speaks()) continue;
        Comm::Window& window = *windows_[side];
        co_await window.notified(done_ + 1);
        if (!run_.verifies()) continue;
        const std::size_t place = done_ % 2 == 0 ? 0 : each.arriving.size();
        std::ranges::copy(window.local().subspan(place, each.arriving.size()), each.arriving.begin());
    }
}

// Open MPI 4.1.4 refuses to start no messages at all.
Task<> Halo::begin_exchange(std::size_t phase) {
    if (speaks(phases_[phase])) co_await exchanges_[phase].begin();
}

Task<> Halo::end_exchange(std::size_t phase) {
    if (speaks(phases_[phase])) co_await exchanges_[phase].end();
}

bool Halo::speaks(const Phase& phase) const {
    return std::ranges::any_of(phase, [&](std::size_t side) { return all_[side].speaks(); });
}

Task<> Halo::start(std::size_t phase) {
    if (form_ == "persistent") co_await begin_exchange(phase);
    else if (form_ == "collective") co_await calls_[phase].begin();
    else if (form_ == "one-sided") co_await put(phases_[phase]);
    else if (form_ == "overlapped") post(phases_[phase]);
    else co_await shift(phases_[phase]);
}

Task<> Halo::finish(std::size_t phase) {
    if (form_ == "persistent") co_await end_exchange(phase);
    else if (form_ == "collective") co_await calls_[phase].end();
    else if (form_ == "one-sided") co_await await_notices(phases_[phase]);
    else if (form_ == "overlapped") co_await comm_.wait_all(requests_);
    if (phase + 1 == phases_.size()) ++done_;
}

Task<> Halo::poll() {
    if (!requests_.empty()) co_await comm_.test(requests_.front());
}

Work Halo::moving(const Phase& phase) const {
    double bytes = 0;
    for (const std::size_t side : phase) bytes += static_cast<double>(all_[side].leaving.size());
    return {.bytes = 2 * bytes};
}

void Halo::pack(const Phase& phase, const Field& field) const {
    for (const std::size_t side : phase)
        if (const Side& each = all_[side]; each.peer != nobody) field.pack(each.out, numbers(each.leaving));
}

void Halo::unpack(const Phase& phase, Field& field) const {
    for (const std::size_t side : phase) {
        const Side& each = all_[side];
        if (each.peer == nobody) continue;
        field.unpack(each.in, numbers(each.itself ? all_[opposite(side)].leaving : each.arriving));
    }
}

Task<> Halo::begin(Field* field, std::size_t phase) {
    if (phases_.empty()) co_return;
    const Phase& own = phases_[phase];
    co_await run_.compute(moving(own), [&] { pack(own, *field); });
    co_await start(phase);
}

Task<> Halo::end(Field* field, std::size_t phase) {
    if (phases_.empty()) co_return;
    const Phase& own = phases_[phase];
    co_await finish(phase);
    co_await run_.compute(moving(own), [&] { unpack(own, *field); });
}

Task<> Halo::exchange(Field* field) {
    for (std::size_t phase = 0; phase < phases_.size(); ++phase) {
        co_await begin(field, phase);
        co_await end(field, phase);
    }
}

Task<> Halo::close() {
    for (Comm::Exchange& each : exchanges_) co_await each.free();
    for (Comm::Prepared& each : calls_) co_await each.free();
    for (auto& window : windows_)
        if (window) co_await window->free();
}

}  // namespace leadline::jacobi
