#include "comm/sim/call_order.hpp"

#include <algorithm>
#include <array>
#include <ranges>

#include "comm/sim/world.hpp"

namespace leadline::sim {
namespace {

bool alike(const Signature& a, const Signature& b) {
    return a.what == b.what && a.form == b.form && a.root == b.root && a.layouts == b.layouts &&
           a.reduces == b.reduces && (!a.reduces || (a.type == b.type && a.reduce == b.reduce)) &&
           a.algorithm == b.algorithm && a.periodic == b.periodic && std::ranges::equal(a.lengths, b.lengths);
}

std::string text_of(const Signature& call) {
    constexpr std::array forms{"", "nonblocking ", "persistent "};
    constexpr std::array types{"int32", "int64", "float32", "float64"};
    constexpr std::array reductions{"sum", "product", "smallest", "user's function"};
    std::string text = forms.at(static_cast<std::size_t>(call.form)) + std::string(call.what);
    const char* before = " of ";
    for (const int length : call.lengths) {
        text += before + std::to_string(length);
        before = "x";
    }
    if (call.periodic) text += ", periodic";
    if (call.bytes >= 0) text += " of " + std::to_string(call.bytes) + " B";
    if (call.layouts) text += " with layouts";
    if (call.reduces)
        text += std::string(", ") + reductions.at(static_cast<std::size_t>(call.reduce)) + " of " +
                types.at(static_cast<std::size_t>(call.type));
    if (call.root >= 0) text += ", root " + std::to_string(call.root);
    if (!call.algorithm.empty()) text += ", by " + std::string(call.algorithm);
    return text;
}

[[noreturn]] void refuse(const Group& group, int first, const Signature& one, int second,
                         const Signature& other) {
    throw Mismatch("collective calls do not match: rank " + std::to_string(group.world_rank(first)) +
                   " called " + text_of(one) + ", rank " + std::to_string(group.world_rank(second)) +
                   " called " + text_of(other) + ", on a communicator of " + std::to_string(group.ranks));
}

// Whether two ranks say the same blocks of all: one of nothing need not be said.
bool same_blocks(Layout a, Layout b) {
    const auto said = std::views::filter([](const Part& part) { return part.bytes > 0; });
    return std::ranges::equal(a | said, b | said, [](const Part& one, const Part& other) {
        return one.peer == other.peer && one.bytes == other.bytes;
    });
}

bool rooted_blocks(const Signature& call) { return call.what == "gather" || call.what == "scatter"; }

}  // namespace

Signature signature_of(const Call& call, Form form) {
    Signature made{.what = name_of(call.what), .form = form, .algorithm = call.algorithm};
    const auto out = static_cast<std::int64_t>(call.out.size());
    const auto in = static_cast<std::int64_t>(call.in.size());
    const auto of_all = [&](const Layout& layout) {
        made.layouts = layout.data() != nullptr;
        if (!made.layouts) made.bytes = out;
    };
    const auto reduction = [&] {
        made.reduces = true;
        made.type = call.type;
        made.reduce = call.reduce;
    };
    switch (call.what) {
        case Collective::barrier: break;
        case Collective::bcast:
            made.bytes = in;
            made.root = call.root;
            break;
        case Collective::scatter:
        case Collective::gather:
            made.bytes = call.what == Collective::gather ? out : in;
            made.root = call.root;
            made.layouts = call.varies;
            break;
        case Collective::reduce: made.root = call.root; [[fallthrough]];
        case Collective::allreduce:
        case Collective::scan:
            made.bytes = out;
            reduction();
            break;
        case Collective::reduce_scatter: reduction(); [[fallthrough]];
        case Collective::allgather: of_all(call.takes); break;
        case Collective::alltoall: of_all(call.takes.data() ? call.takes : call.gives); break;
        // Each block is its neighbour's matter: they are messages, whose sizes must be equal.
        case Collective::neighbor_allgather:
        case Collective::neighbor_alltoall: break;
    }
    return made;
}

bool CallOrder::Plain::is(const Call& call, Form of) const {
    return plain && what == call.what && form == of && out == call.out.size() && in == call.in.size() &&
           root == call.root && type == call.type && reduce == call.reduce && varies == call.varies &&
           algorithm == call.algorithm.data() && length == call.algorithm.size() && !call.gives.data() &&
           !call.takes.data();
}

void CallOrder::enter(const Group& group, int rank, const Call& call, Form form) {
    if (made_.empty()) made_.resize(static_cast<std::size_t>(group.players));
    std::uint32_t& made = made_[static_cast<std::size_t>(rank)];
    const std::uint32_t turn = made - done_;
    Open* const open = turn == 0 ? first_ : turn < open_.size() ? &open_[turn] : nullptr;
    if (open && open->plain.is(call, form)) {
        ++made;
        count(group, *open);
    } else {
        compare(group, rank, call, form);
    }
}

// What is not as plain as the first one's call, or is the first one's.
void CallOrder::compare(const Group& group, int rank, const Call& call, Form form) {
    const std::uint32_t turn = made_[static_cast<std::size_t>(rank)] - done_;
    const bool first = turn == open_.size();
    // Blocks of a gather or scatter are laid out at the root, those of an alltoall are one rank's own.
    const bool all_say = call.what == Collective::allgather || call.what == Collective::reduce_scatter;
    const Layout blocks = all_say                            ? call.takes
                          : rank != call.root                ? Layout()
                          : call.what == Collective::gather  ? call.takes
                          : call.what == Collective::scatter ? call.gives
                                                             : Layout();
    enter(group, rank, signature_of(call, form), blocks);
    if (first && turn < open_.size())
        open_[turn].plain = {.algorithm = call.algorithm.data(),
                             .length = call.algorithm.size(),
                             .out = call.out.size(),
                             .in = call.in.size(),
                             .root = call.root,
                             .what = call.what,
                             .form = form,
                             .type = call.type,
                             .reduce = call.reduce,
                             .plain = !call.gives.data() && !call.takes.data(),
                             .varies = call.varies};
}

void CallOrder::enter(const Group& group, int rank, const Signature& call, Layout blocks) {
    if (made_.empty()) made_.resize(static_cast<std::size_t>(group.players));
    const std::uint32_t turn = made_[static_cast<std::size_t>(rank)]++ - done_;
    if (turn == open_.size()) {
        open_.push_back({.call = call, .rank = rank});
        first_ = &open_.front();
        if (!rooted_blocks(call)) open_.back().blocks.assign(blocks.begin(), blocks.end());
    }
    Open& open = open_[turn];
    if (!alike(open.call, call)) refuse(group, rank, call, open.rank, open.call);
    if (rooted_blocks(call)) {
        if (open.call.bytes != call.bytes) open.others.emplace_back(rank, call.bytes);
        if (rank == call.root) open.blocks.assign(blocks.begin(), blocks.end());
    } else if (open.call.bytes != call.bytes) {
        refuse(group, rank, call, open.rank, open.call);
    } else if (!same_blocks(open.blocks, blocks)) {
        throw Mismatch("collective calls do not match: rank " + std::to_string(group.world_rank(rank)) +
                       " called " + text_of(call) + " in which blocks have other sizes than rank " +
                       std::to_string(group.world_rank(open.rank)) + " said, on a communicator of " +
                       std::to_string(group.ranks));
    }
    count(group, open);
}

// One more has come to it.
void CallOrder::count(const Group& group, Open& open) {
    if (++open.come < group.players) return;
    if (rooted_blocks(open.call)) check_blocks(group, open);
    // The earliest is the first that all have made: each rank makes its calls in order.
    open_.pop_front();
    first_ = open_.empty() ? nullptr : &open_.front();
    ++done_;
}

// Of a gather or a scatter that all have called: without a layout all blocks are of one size, with one each
// is what the root says.
void CallOrder::check_blocks(const Group& group, Open& open) {
    if (open.blocks.empty() && open.others.empty()) return;
    std::ranges::sort(open.others);
    const auto with = [&](std::int64_t bytes) {
        Signature call = open.call;
        call.bytes = bytes;
        return call;
    };
    if (open.blocks.empty())
        refuse(group, open.others.front().first, with(open.others.front().second), open.rank, open.call);
    std::vector<std::int64_t> said(static_cast<std::size_t>(group.ranks), open.call.bytes);
    for (const auto& [rank, bytes] : open.others) said[static_cast<std::size_t>(rank)] = bytes;
    std::vector<std::int64_t> wanted(said.size());
    for (const Part& part : open.blocks) wanted.at(static_cast<std::size_t>(part.peer)) = part.bytes;
    for (int rank = 0; rank < group.ranks; ++rank)
        if (const auto at = static_cast<std::size_t>(rank); said[at] != wanted[at])
            refuse(group, rank, with(said[at]), open.call.root, with(wanted[at]));
}

}  // namespace leadline::sim
