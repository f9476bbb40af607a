#include "comm/mpi/operations.hpp"

#include <algorithm>
#include <type_traits>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

// A call with counts of an int, or the same with counts of 64 bits; the name of one that makes ready.
#if MPI_VERSION >= 4
#define LEADLINE_SIZED(call) choose<large>(call, call##_c)
#define LEADLINE_READY(name) choose<large>(MPI_##name##_init, MPI_##name##_init_c)
#define LEADLINE_READY_BARRIER MPI_Barrier_init
#else
#define LEADLINE_SIZED(call) choose<large>(call, nullptr)
#if defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define LEADLINE_READY(name) choose<large>(MPI_##name##_init, nullptr)
#define LEADLINE_READY_BARRIER MPI_Barrier_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define LEADLINE_READY(name) choose<large>(MPIX_##name##_init, nullptr)
#define LEADLINE_READY_BARRIER MPIX_Barrier_init
#else
#define LEADLINE_READY(name) nobody_readies
#define LEADLINE_READY_BARRIER nobody_readies
#endif
#endif

// One operation: its call, the name of the one that begins it, and what comes before the communicator.
#define LEADLINE_SAY(name, begun, ...)                                                                \
    do {                                                                                              \
        if constexpr (form == Form::blocking) return LEADLINE_SIZED(MPI_##name)(__VA_ARGS__, a.comm); \
        else if constexpr (form == Form::nonblocking)                                                 \
            return LEADLINE_SIZED(MPI_I##begun)(__VA_ARGS__, a.comm, request);                        \
        else return LEADLINE_READY(name)(__VA_ARGS__, a.comm, MPI_INFO_NULL, request);                \
    } while (false)

namespace leadline {
namespace {

template <bool large, class Small, class Large>
constexpr auto choose([[maybe_unused]] Small small, [[maybe_unused]] Large with_large_counts) {
    if constexpr (large) return with_large_counts;
    else return small;
}

template <class... Ignored>
[[maybe_unused]] int nobody_readies(Ignored...) {
    throw Unsupported(
        "this MPI has no persistent collectives; MPI 4 has them, and Open MPI 4 as an extension");
}

template <Form form, class Given>
int barrier(const Given& a, [[maybe_unused]] MPI_Request* request) {
    if constexpr (form == Form::blocking) return MPI_Barrier(a.comm);
    else if constexpr (form == Form::nonblocking) return MPI_Ibarrier(a.comm, request);
    else return LEADLINE_READY_BARRIER(a.comm, MPI_INFO_NULL, request);
}

// The v-variants.
template <Form form, class Given>
int say_by_layout(const Given& a, [[maybe_unused]] MPI_Request* request) {
    constexpr bool large = std::is_same_v<Given, LargeArguments>;
    switch (a.what) {
        case Collective::gather:
            LEADLINE_SAY(Gatherv, gatherv, a.out, a.gives, a.type, a.in, a.takes_counts, a.takes_offsets,
                         a.blocks, a.root);
        case Collective::scatter:
            LEADLINE_SAY(Scatterv, scatterv, a.out, a.gives_counts, a.gives_offsets, a.blocks, a.in, a.takes,
                         a.type, a.root);
        case Collective::allgather:
            LEADLINE_SAY(Allgatherv, allgatherv, a.out, a.gives, a.type, a.in, a.takes_counts,
                         a.takes_offsets, a.type);
        case Collective::alltoall:
            LEADLINE_SAY(Alltoallv, alltoallv, a.out, a.gives_counts, a.gives_offsets, a.type, a.in,
                         a.takes_counts, a.takes_offsets, a.type);
        case Collective::reduce_scatter:
            LEADLINE_SAY(Reduce_scatter, reduce_scatter, a.out, a.in, a.takes_counts, a.type, a.reduction);
        case Collective::neighbor_allgather:
            LEADLINE_SAY(Neighbor_allgatherv, neighbor_allgatherv, a.out, a.gives, a.type, a.in,
                         a.takes_counts, a.takes_offsets, a.type);
        case Collective::neighbor_alltoall:
            LEADLINE_SAY(Neighbor_alltoallv, neighbor_alltoallv, a.out, a.gives_counts, a.gives_offsets,
                         a.type, a.in, a.takes_counts, a.takes_offsets, a.type);
        default: break;
    }
    throw Unsupported("a collective without blocks takes no layout");
}

template <Form form, class Given>
int say(const Given& a, [[maybe_unused]] MPI_Request* request) {
    constexpr bool large = std::is_same_v<Given, LargeArguments>;
    if (a.by_layout) return say_by_layout<form>(a, request);
    switch (a.what) {
        case Collective::barrier: return barrier<form>(a, request);
        case Collective::bcast: LEADLINE_SAY(Bcast, bcast, a.in, a.takes, a.type, a.root);
        case Collective::reduce:
            LEADLINE_SAY(Reduce, reduce, a.out, a.in, a.gives, a.type, a.reduction, a.root);
        case Collective::allreduce:
            LEADLINE_SAY(Allreduce, allreduce, a.out, a.in, a.gives, a.type, a.reduction);
        case Collective::scan: LEADLINE_SAY(Scan, scan, a.out, a.in, a.gives, a.type, a.reduction);
        case Collective::reduce_scatter:
            LEADLINE_SAY(Reduce_scatter_block, reduce_scatter_block, a.out, a.in, a.takes, a.type,
                         a.reduction);
        case Collective::gather:
            LEADLINE_SAY(Gather, gather, a.out, a.gives, a.type, a.in, a.takes, a.type, a.root);
        case Collective::scatter:
            LEADLINE_SAY(Scatter, scatter, a.out, a.gives, a.type, a.in, a.takes, a.type, a.root);
        case Collective::allgather:
            LEADLINE_SAY(Allgather, allgather, a.out, a.gives, a.type, a.in, a.takes, a.type);
        case Collective::alltoall:
            LEADLINE_SAY(Alltoall, alltoall, a.out, a.gives, a.type, a.in, a.takes, a.type);
        case Collective::neighbor_allgather:
            LEADLINE_SAY(Neighbor_allgather, neighbor_allgather, a.out, a.gives, a.type, a.in, a.takes,
                         a.type);
        case Collective::neighbor_alltoall:
            LEADLINE_SAY(Neighbor_alltoall, neighbor_alltoall, a.out, a.gives, a.type, a.in, a.takes, a.type);
    }
    return MPI_ERR_OTHER;
}

template <Form form, class Given>
int say_erased(const void* arguments, MPI_Request* request) {
    return say<form>(*static_cast<const Given*>(arguments), request);
}

bool reduces(Collective what) {
    return what == Collective::reduce || what == Collective::allreduce || what == Collective::scan ||
           what == Collective::reduce_scatter;
}

// How many blocks a buffer of blocks has.
std::size_t peers_of(Collective what, MPI_Comm comm) {
    int count = 0;
    if (what == Collective::neighbor_allgather || what == Collective::neighbor_alltoall) {
        int kind = MPI_UNDEFINED;
        check(MPI_Topo_test(comm, &kind));
        if (kind != MPI_CART)
            throw Unsupported("a collective of the neighbourhood wants the communicator of a grid");
        check(MPI_Cartdim_get(comm, &count));
        count *= 2;
    } else {
        check(MPI_Comm_size(comm, &count));
    }
    return static_cast<std::size_t>(count);
}

// The bytes that this rank gives to one rank and takes from one, where all blocks are equal. Either is what
// the buffer that every rank has tells, since the other may be the root's alone.
struct Block {
    std::size_t gives;
    std::size_t takes;
};
Block block_of(const Call& call, std::size_t peers) {
    const std::size_t out = call.out.size();
    const std::size_t in = call.in.size();
    switch (call.what) {
        case Collective::scatter: return {in, in};
        case Collective::alltoall:
        case Collective::neighbor_alltoall: return {out / peers, in / peers};
        case Collective::gather:
        case Collective::allgather:
        case Collective::neighbor_allgather: return {out, out};
        case Collective::reduce_scatter: return {out, call.in_place ? out / peers : in};
        default: return {out, in};
    }
}

// The type of a shape; it counts as one byte long, so that offsets are bytes.
MPI_Datatype type_of(const Shape& shape) {
    MPI_Datatype rows = MPI_DATATYPE_NULL;
    MPI_Datatype planes = MPI_DATATYPE_NULL;
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    for (const std::int64_t count : {shape.run, shape.rows, shape.planes})
        if (!fits(static_cast<std::size_t>(count))) refuse_count(static_cast<std::size_t>(count));
    check(MPI_Type_create_hvector(static_cast<int>(shape.rows), static_cast<int>(shape.run), shape.row_stride,
                                  MPI_BYTE, &rows));
    check(MPI_Type_create_hvector(static_cast<int>(shape.planes), 1, shape.plane_stride, rows, &planes));
    check(MPI_Type_create_resized(planes, 0, 1, &whole));
    check(MPI_Type_commit(&whole));
    check(MPI_Type_free(&rows));
    check(MPI_Type_free(&planes));
    return whole;
}

std::int64_t unit_of(const Call& call) {
    return reduces(call.what) ? static_cast<std::int64_t>(size_of(call.type)) : 1;
}

}  // namespace

template <class Given>
MpiCall say_as(Form form) {
    switch (form) {
        case Form::blocking: return say_erased<Form::blocking, Given>;
        case Form::nonblocking: return say_erased<Form::nonblocking, Given>;
        case Form::persistent: return say_erased<Form::persistent, Given>;
    }
    return nullptr;
}
template MpiCall say_as<SmallArguments>(Form form);

int say_at_once(const SmallArguments& arguments) { return say<Form::blocking>(arguments, nullptr); }

Sized size_up(const Call& call, MPI_Comm comm) {
    const std::int64_t unit = unit_of(call);
    const Block block = block_of(call, peers_of(call.what, comm));
    Sized sized;
    // Of a gather or scatter only the root has a layout, but all must say the same call.
    const bool rooted = call.what == Collective::gather || call.what == Collective::scatter;
    sized.by_layout = !call.gives.empty() || !call.takes.empty() || (rooted && call.varies);
    sized.elements = static_cast<std::int64_t>(std::max(block.gives, block.takes)) / unit;
    if (sized.by_layout && call.what == Collective::reduce_scatter) sized.elements = 0;
    for (const Layout layout : {call.gives, call.takes})
        for (const Part& part : layout)
            sized.elements = std::max({sized.elements, part.bytes / unit, part.offset / unit});
    std::int64_t next = 0;
    if (call.what == Collective::reduce_scatter)
        for (const Part& part : call.takes) {
            sized.gaps |= (part.bytes != 0 && part.offset != next) || part.bytes % unit != 0;
            next += part.bytes;
        }
    return sized;
}

template <class Count, class Offset>
auto MpiArguments<Count, Offset>::spread(Layout layout, std::size_t peers, std::int64_t unit, bool shaped)
    -> Dense {
    Dense dense{std::vector<Count>(peers), std::vector<Offset>(peers)};
    for (const Part& part : layout) {
        const auto peer = static_cast<std::size_t>(part.peer);
        dense.counts.at(peer) = static_cast<Count>(shaped ? 1 : part.bytes / unit);
        dense.offsets.at(peer) = static_cast<Offset>(part.offset / unit);
    }
    return dense;
}

template <class Count, class Offset>
MpiArguments<Count, Offset>::~MpiArguments() {
    if (shaped_ != MPI_DATATYPE_NULL) MPI_Type_free(&shaped_);
}

template <class Count, class Offset>
MpiArguments<Count, Offset>::MpiArguments(const Call& call, MPI_Comm comm, bool by_layout) {
    const std::size_t peers = peers_of(call.what, comm);
    const auto unit = unit_of(call);
    Block block = block_of(call, peers);
    if (by_layout) {
        // A rank gives its own block as long as it is, and takes into as much room as it has.
        block = {call.out.size(), call.in.size()};
        const bool shaped = call.shape.run > 0;
        gives_ = spread(call.gives, peers, unit, shaped);
        takes_ = spread(call.takes, peers, unit, shaped);
        if (shaped) arguments_.blocks = shaped_ = type_of(call.shape);
    }
    arguments_.out = call.out.data();
    arguments_.in = call.in.data();
    if (call.in_place) {
        if (call.what == Collective::scatter) arguments_.in = MPI_IN_PLACE;
        else arguments_.out = MPI_IN_PLACE;
    }
    arguments_.gives = static_cast<Count>(static_cast<std::int64_t>(block.gives) / unit);
    arguments_.takes = static_cast<Count>(static_cast<std::int64_t>(block.takes) / unit);
    arguments_.gives_counts = gives_.counts.data();
    arguments_.gives_offsets = gives_.offsets.data();
    arguments_.takes_counts = takes_.counts.data();
    arguments_.takes_offsets = takes_.offsets.data();
    if (reduces(call.what)) {
        arguments_.type = mpi_type(call.type);
        arguments_.reduction = mpi_reduction(call.reduce, call.type, !std::is_same_v<Count, int>);
    }
    arguments_.root = call.root;
    arguments_.comm = comm;
    arguments_.what = call.what;
    arguments_.by_layout = by_layout;
}

template class MpiArguments<int, int>;

#if MPI_VERSION >= 4
template MpiCall say_as<LargeArguments>(Form form);
template class MpiArguments<MPI_Count, MPI_Aint>;
#endif

}  // namespace leadline
