#include "harness/perform_memory.hpp"

#include <algorithm>
#include <cstring>

namespace leadline::perform {
namespace {

std::int64_t size(Bytes data) { return static_cast<std::int64_t>(data.size()); }

// The part of a layout that is a rank's.
Part part_of(Layout layout, int peer) {
    const auto found = std::ranges::lower_bound(layout, peer, {}, &Part::peer);
    if (found == layout.end() || found->peer != peer) return {.peer = peer, .bytes = 0, .offset = 0};
    return *found;
}

// One rank's block of a buffer that holds those of all.
std::byte* block_in(Bytes buffer, Layout layout, int peer, std::int64_t bytes) {
    return buffer.data() + (layout.empty() ? peer * bytes : part_of(layout, peer).offset);
}

std::vector<std::int64_t> sizes_in(Layout layout, int ranks) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
        sizes[static_cast<std::size_t>(rank)] = part_of(layout, rank).bytes;
    return sizes;
}

// Equal parts of a message, of whole elements, but for one element.
void cut(std::vector<Block>& blocks, std::int64_t bytes, std::int64_t element) {
    const std::int64_t elements = bytes / element;
    const auto parts = static_cast<std::int64_t>(blocks.size());
    for (std::int64_t b = 0; b < parts; ++b) {
        Block& block = blocks[static_cast<std::size_t>(b)];
        block.offset = elements * b / parts * element;
        block.bytes = elements * (b + 1) / parts * element - block.offset;
    }
}

struct Sum {
    template <class T>
    T operator()(T a, T b) const {
        return a + b;
    }
};
struct Product {
    template <class T>
    T operator()(T a, T b) const {
        return a * b;
    }
};
struct Smallest {
    template <class T>
    T operator()(T a, T b) const {
        return b < a ? b : a;
    }
};

// Integers go round where they overflow, as in MPI's libraries, which is not undefined for unsigned ones.
template <class T, class Operation>
void combine(std::byte* into, const std::byte* from, std::size_t bytes) {
    for (std::size_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        T a;
        T b;
        std::memcpy(&a, into + at, sizeof(T));
        std::memcpy(&b, from + at, sizeof(T));
        a = Operation()(a, b);
        std::memcpy(into + at, &a, sizeof(T));
    }
}

template <class Signed, class Wraps = Signed>
Combine combining_of(Reduce reduce) {
    switch (reduce) {
        case Reduce::product: return combine<Wraps, Product>;
        case Reduce::smallest: return combine<Signed, Smallest>;
        case Reduce::sum:
        case Reduce::user: break;  // which adds
    }
    return combine<Wraps, Sum>;
}

}  // namespace

bool Sight::by_parts() const {
    return call.what == Collective::barrier || call.what == Collective::bcast ||
           call.what == Collective::reduce || call.what == Collective::allreduce ||
           call.what == Collective::scan;
}

std::vector<std::int64_t> sizes_known(const Sight& sight) {
    const Call& call = sight.call;
    std::int64_t own = 0;
    switch (call.what) {
        case Collective::gather:
            if (sight.root() && !call.takes.empty()) return sizes_in(call.takes, sight.ranks);
            own = size(call.out);
            break;
        case Collective::scatter:
            if (sight.root() && !call.gives.empty()) return sizes_in(call.gives, sight.ranks);
            own = size(call.in);
            break;
        case Collective::allgather:
        case Collective::reduce_scatter:
            if (!call.takes.empty()) return sizes_in(call.takes, sight.ranks);
            own = size(call.what == Collective::allgather ? call.out : call.in);
            break;
        case Collective::alltoall: own = size(call.out) / sight.ranks; break;
        default: break;
    }
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(sight.ranks));
    std::ranges::fill(sizes, own);
    return sizes;
}

bool root_tells(const Sight& sight) {
    return sight.call.what == Collective::gather || sight.call.what == Collective::scatter;
}

std::vector<Block> blocks_of(const Sight& sight, const std::vector<std::int64_t>& sizes, std::int32_t parts) {
    const auto& [call, rank, ranks] = sight;
    std::vector<Block> blocks(static_cast<std::size_t>(parts));
    if (sight.by_parts()) {
        const bool result = call.what != Collective::reduce || sight.root();
        const std::int64_t element = sight.reduces() ? static_cast<std::int64_t>(size_of(call.type)) : 1;
        const bool brings = call.what != Collective::bcast || sight.root();
        const Bytes message = message_of(sight);
        cut(blocks, size(message), element);
        for (Block& block : blocks) {
            if (brings) block.given = message.data() + block.offset;
            if (result) block.taken = call.in.data() + block.offset;
        }
        return blocks;
    }
    blocks.resize(sizes.size());
    for (int peer = 0; peer < ranks; ++peer) {
        Block& block = blocks[static_cast<std::size_t>(peer)];
        block.bytes = sizes[static_cast<std::size_t>(peer)];
        const bool own = peer == rank;
        switch (call.what) {
            case Collective::gather:
            case Collective::allgather:
                if (own) block.given = call.out.data();
                if (call.what == Collective::allgather || sight.root())
                    block.taken = block_in(call.in, call.takes, peer, block.bytes);
                break;
            case Collective::scatter:
                if (sight.root()) block.given = block_in(call.out, call.gives, peer, block.bytes);
                if (own) block.taken = call.in.data();
                break;
            case Collective::reduce_scatter:
                block.given = block_in(call.out, call.takes, peer, block.bytes);
                if (own) block.taken = call.in.data();
                break;
            default:  // alltoall
                if (!call.gives.empty()) block.bytes = part_of(call.gives, peer).bytes;
                block.given = block_in(call.out, call.gives, peer, block.bytes);
                break;
        }
    }
    if (call.what != Collective::alltoall) return blocks;
    for (int peer = 0; peer < ranks; ++peer) {
        Block taken{.bytes = call.takes.empty() ? sizes[static_cast<std::size_t>(peer)]
                                                : part_of(call.takes, peer).bytes};
        taken.taken = block_in(call.in, call.takes, peer, taken.bytes);
        blocks.push_back(taken);
    }
    for (const std::int64_t bytes : sizes) blocks.push_back({.bytes = bytes});
    return blocks;
}

Combine combining(Type type, Reduce reduce) {
    switch (type) {
        case Type::int32: return combining_of<std::int32_t, std::uint32_t>(reduce);
        case Type::int64: return combining_of<std::int64_t, std::uint64_t>(reduce);
        case Type::float32: return combining_of<float>(reduce);
        case Type::float64: break;
    }
    return combining_of<double>(reduce);
}

}  // namespace leadline::perform
