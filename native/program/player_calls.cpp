// Collectives of a recorded program as calls of the vocabulary.
#include <algorithm>
#include <array>
#include <utility>

#include "program/player.hpp"

namespace leadline::program {
namespace {

Type type_of(const Step& step, std::span<const std::int64_t> blocks) {
    switch (step.type) {
        case 1: return Type::int32;
        case 2: return Type::int64;
        case 3: return Type::float32;
        case 4: return Type::float64;
        default: break;
    }
    // Whatever it was, as the widest number that fits its bytes; where blocks vary, those of every rank, as
    // all must take it for the same.
    bool fits = step.bytes % 8 == 0;
    for (std::size_t i = 1; i < blocks.size(); i += 2) fits = fits && blocks[i] % 8 == 0;
    return fits ? Type::float64 : Type::int32;
}

Reduce reduce_of(const Step& step) {
    constexpr std::array<Reduce, 6> known{Reduce::sum,      Reduce::product, Reduce::smallest,
                                          Reduce::smallest, Reduce::user,    Reduce::user};
    return known.at(std::min<std::size_t>(step.reduction, known.size() - 1));
}

bool reduces(Kind kind) {
    return kind == Kind::reduce || kind == Kind::allreduce || kind == Kind::reduce_scatter ||
           kind == Kind::scan || kind == Kind::exscan;
}

// So many bytes as whole elements, of which a reduction is.
std::int64_t whole(std::int64_t bytes, Type type) {
    const auto unit = static_cast<std::int64_t>(size_of(type));
    return (bytes + unit - 1) / unit * unit;
}

// Blocks follow one another.
void follow(std::vector<Part>& parts) {
    std::int64_t offset = 0;
    for (Part& part : parts) part.offset = std::exchange(offset, offset + part.bytes);
}

void parts_of(std::span<const std::int64_t> list, int peers, std::vector<Part>& parts) {
    parts.clear();
    for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
        if (list[i] < 0 || list[i] >= peers)
            throw std::runtime_error("a block of rank " + std::to_string(list[i]) + " in a communicator of " +
                                     std::to_string(peers));
        parts.push_back({static_cast<int>(list[i]), list[i + 1], 0});
    }
    if (!std::ranges::is_sorted(parts, {}, &Part::peer)) std::ranges::sort(parts, {}, &Part::peer);
    if (const auto twice = std::ranges::adjacent_find(parts, {}, &Part::peer); twice != parts.end())
        throw std::runtime_error("a list of blocks names rank " + std::to_string(twice->peer) + " twice");
    follow(parts);
}

// Of a call whose blocks every rank names, its own is also told apart.
void agree(const std::vector<Part>& parts, int rank, std::int64_t own) {
    const auto named = std::ranges::find(parts, rank, &Part::peer);
    const std::int64_t bytes = named == parts.end() ? 0 : named->bytes;
    if (bytes != own)
        throw std::runtime_error("the block of rank " + std::to_string(rank) + " has " + std::to_string(own) +
                                 " B, and " + std::to_string(bytes) + " B in its list of blocks");
}

// Who may say MPI_IN_PLACE: everybody, the root alone, or nobody (MPI 4.1, chapter 6).
bool has_in_place(Kind kind, bool root) {
    switch (kind) {
        case Kind::barrier:
        case Kind::bcast:
        case Kind::neighbor_allgather:
        case Kind::neighbor_alltoall: return false;
        case Kind::reduce:
        case Kind::gather:
        case Kind::scatter: return root;
        default: return true;
    }
}

}  // namespace

Call Player::call(const Step& step, std::vector<Part>& gives, std::vector<Part>& takes) {
    Call made{.what = *collective_of(step.kind),
              .root = step.peer,
              .type = type_of(step, sequence_.list(step.takes)),
              .in_place = (step.free & in_place) != 0};
    if (const int rank = comm(step).rank(); made.in_place && !has_in_place(step.kind, rank == step.peer))
        throw std::runtime_error("rank " + std::to_string(rank) + " has its data in place in a " +
                                 std::string(name_of(made.what)) + ", where MPI_IN_PLACE is not its to say");
    if (const auto found = playing_.algorithms.find(step.kind); found != playing_.algorithms.end())
        made.algorithm = found->second;
    std::int64_t bytes = step.bytes;
    if (reduces(step.kind)) {
        bytes = whole(bytes, made.type);
        made.reduce = reduce_of(step);
    }
    if (step.kind == Kind::bcast) {
        made.in = in(bytes);
    } else if (reduces(step.kind) && step.kind != Kind::reduce_scatter) {
        made.out = out(bytes);
        made.in = in(bytes);
    } else if (step.kind != Kind::barrier) {
        parts_of(sequence_.list(step.gives), comm(step).size(), gives);
        parts_of(sequence_.list(step.takes), comm(step).size(), takes);
        lay_out(made, step, bytes, gives, takes);
    }
    return made;
}

// Buffers of a collective with a block of each rank, and where these vary their layouts.
void Player::lay_out(Call& made, const Step& step, std::int64_t bytes, std::vector<Part>& gives,
                     std::vector<Part>& takes) {
    const Comm& among = comm(step);
    const bool root = among.rank() == step.peer, varies = step.mode != 0;
    const std::int64_t every = bytes * among.size();
    const auto all = [&](const std::vector<Part>& parts) {
        if (!varies) return every;
        return parts.empty() ? 0 : parts.back().offset + parts.back().bytes;
    };
    switch (step.kind) {
        case Kind::gather:
            made.out = out(bytes);
            if (root) made.in = in(all(takes));
            if (root && varies) made.takes = takes;
            made.varies = varies;
            break;
        case Kind::scatter:
            if (root) made.out = out(all(gives));
            made.in = in(bytes);
            if (root && varies) made.gives = gives;
            made.varies = varies;
            break;
        case Kind::alltoall:
            // No part at all would be equal blocks.
            if (varies && gives.empty()) gives.push_back({among.rank(), 0, 0});
            if (varies && takes.empty()) takes.push_back({among.rank(), 0, 0});
            made.out = out(all(gives));
            made.in = in(all(takes));
            if (varies) made.gives = gives;
            if (varies) made.takes = takes;
            break;
        default: {
            const bool gathers = step.kind == Kind::allgather;
            if (varies) agree(takes, among.rank(), step.bytes);
            if (varies && takes.empty()) takes.push_back({0, 0, 0});
            if (!gathers) {
                for (Part& part : takes) part.bytes = whole(part.bytes, made.type);
                follow(takes);
            }
            made.out = out(gathers ? bytes : all(takes));
            made.in = in(gathers || made.in_place ? all(takes) : bytes);
            if (varies) made.takes = takes;
        }
    }
}

Task<> Player::collective(const Step& step) {
    if (step.form == blocking) {
        co_await comm(step).collective(call(step, blocking_.gives, blocking_.takes));
        co_return;
    }
    Slot& slot = slots_[static_cast<std::size_t>(step.request)];
    if (!slot.meeting) slot.meeting = std::make_unique<Meeting>();
    Meeting& meeting = *slot.meeting;
    const Call asked = call(step, meeting.gives, meeting.takes);
    const Form form = step.form == nonblocking ? Form::nonblocking : Form::persistent;
    meeting.prepared.reset();
    meeting.prepared.emplace(co_await comm(step).prepare(asked, form));
    slot.made_ready = step.form == nonblocking ? nullptr : &step;
    if (step.form == nonblocking) co_await meeting.prepared->begin();
}

Task<> Player::neighbours(const Step& step) {
    if (step.form == blocking) {
        waited_.clear();
        co_await begin_blocks(step, waited_);
        co_await comm(step).wait_all(waited_);
        co_return;
    }
    Slot& slot = slots_[static_cast<std::size_t>(step.request)];
    if (!slot.meeting) slot.meeting = std::make_unique<Meeting>();
    slot.made_ready = step.form == nonblocking ? nullptr : &step;
    if (step.form == nonblocking) co_await begin_blocks(step, slot.meeting->blocks);
}

// Blocks to and from neighbours, each as a message.
Task<> Player::begin_blocks(const Step& step, std::vector<Comm::Request>& begun) {
    const auto gives = sequence_.list(step.gives), takes = sequence_.list(step.takes);
    for (std::size_t i = 0; i + 1 < takes.size(); i += 2)
        begun.push_back(comm(step).irecv(in(takes[i + 1]), static_cast<int>(takes[i]), neighbours_tag));
    for (std::size_t i = 0; i + 1 < gives.size(); i += 2) {
        co_await run_.turn(true);
        begun.push_back(comm(step).isend(out(gives[i + 1]), static_cast<int>(gives[i]), neighbours_tag));
    }
}

}  // namespace leadline::program
