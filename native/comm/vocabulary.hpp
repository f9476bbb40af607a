// What a benchmark may say to a machine: the vocabulary that every backend speaks.
//
// A backend is a folder beside this file whose `backend.hpp` defines Comm, Request, Window and Control. A
// benchmark is compiled once against each backend and names none of them; `comm.hpp` checks that the chosen
// backend says everything below. Sizes are in bytes, times in seconds.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "comm/task.hpp"

namespace leadline {

using Bytes = std::span<std::byte>;

// How far apart two ranks are: -1 where that is not known (ranks that are not bound), below 3 on one node,
// above that 2 + the hops between their nodes (3 where the machine has no hops to tell).
enum Distance : int { unknown = -1, same_group = 0, same_package = 1, same_node = 2, other_node = 3 };

// How the memory of a window is made, or which library carries it; they differ by up to an order of
// magnitude.
// `shared` is memory of one node that its ranks address as their own.
enum class Exposure { allocated, created, shmem, shared };

// How a reduction combines, and what. `user` is a function of the program's own, which adds as `sum` does,
// but of which neither library nor hardware can know that.
enum class Reduce { sum, product, smallest, user };
enum class Type { int32, int64, float32, float64 };
constexpr std::size_t size_of(Type type) { return type == Type::int32 || type == Type::float32 ? 4 : 8; }

// What a piece of computation needs of its core: floating-point operations, and bytes to and from memory.
struct Work {
    double flops = 0;
    double bytes = 0;
};

// A request that this machine or library cannot serve: the point is skipped with this reason.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The ranks one step down and up a dimension of a grid; nobody where the grid ends.
struct Neighbours {
    static constexpr int nobody = -1;
    int down = nobody;
    int up = nobody;
};

// Operations of all ranks of a communicator, by MPI's names. The last two go by the neighbours of a grid: in
// each dimension the rank below, then the one above.
enum class Collective {
    barrier,
    bcast,
    reduce,
    allreduce,
    gather,
    scatter,
    allgather,
    alltoall,
    reduce_scatter,
    scan,
    neighbor_allgather,
    neighbor_alltoall
};
constexpr bool has_root(Collective what) {
    using enum Collective;
    return what == bcast || what == reduce || what == gather || what == scatter;
}
constexpr std::string_view name_of(Collective what) {
    constexpr std::array<std::string_view, 12> names{"barrier",
                                                     "bcast",
                                                     "reduce",
                                                     "allreduce",
                                                     "gather",
                                                     "scatter",
                                                     "allgather",
                                                     "alltoall",
                                                     "reduce_scatter",
                                                     "scan",
                                                     "neighbor_allgather",
                                                     "neighbor_alltoall"};
    return names.at(static_cast<std::size_t>(what));
}

// What of a buffer goes to one rank, or comes from it. For a collective of the neighbourhood `peer` is the
// neighbour's number.
struct Part {
    int peer;
    std::int64_t bytes;
    std::int64_t offset;
};
// The parts of a buffer by ascending peers, at most one each; a rank without one gets or gives nothing. An
// empty layout is equal blocks, one a rank in order. The caller keeps it while the operation lives.
using Layout = std::span<const Part>;

// Where the bytes of a part are that do not follow one another: so many planes of so many rows of `run`
// bytes, the part's `bytes` in all, which begin so far apart. No `run`: they follow one another.
struct Shape {
    std::int64_t run = 0;
    std::int64_t rows = 1;
    std::int64_t row_stride = 0;
    std::int64_t planes = 1;
    std::int64_t plane_stride = 0;
    bool operator==(const Shape&) const = default;
};

// A collective that is asked for. Every rank says the same but for its own buffers and layouts.
//
//                          out                          in
//   bcast                  -                            the message, at the root and everywhere else
//   reduce                 the operand                  the result, at the root
//   allreduce, scan        the operand                  the result (scan: of the ranks up to this one)
//   gather                 this rank's block            all blocks, at the root
//   scatter                all blocks, at the root      this rank's block
//   allgather              this rank's block            all blocks
//   alltoall               a block for each rank        a block of each rank
//   reduce_scatter         the operand, all blocks      this rank's block of the result
//   neighbor_allgather     the block                    a block of each neighbour
//   neighbor_alltoall      a block for each neighbour   a block of each neighbour
//
// With a layout it is MPI's v-variant: `gives` lays out `out`, `takes` lays out `in`. gather has `takes` at
// the root, scatter `gives` at the root, allgather `takes` everywhere, alltoall and neighbor_alltoall both
// everywhere; reduce_scatter has `takes` everywhere, the blocks of all ranks in the operand. Of a gather or
// scatter with a layout every part at the root, none of them empty, may be of a `shape`, the same on all
// ranks; a rank's own block then still is in one piece. It is made ready before it is done. Every rank of a
// gather or scatter whose root has a layout says that it `varies`, as it would call MPI's v-variant.
struct Call {
    Collective what = Collective::barrier;
    Bytes out{};
    Bytes in{};
    int root = 0;
    Type type = Type::float64;
    Reduce reduce = Reduce::sum;
    Layout gives{};
    Layout takes{};
    Shape shape{};
    bool varies = false;
    // As MPI_IN_PLACE: what a rank brings (of a scatter, what its root would get) is where the result will
    // be.
    bool in_place = false;
    // On a described machine the algorithm by which it is done, whatever hardware there is; empty: the
    // machine's own choice. A real library cannot be told: Unsupported.
    std::string_view algorithm{};
};

// How a collective is said: in one call; begun and ended; or made ready once, then begun and ended.
enum class Form { blocking, nonblocking, persistent };

// A message that is exchanged again and again.
struct PersistentMessage {
    Bytes data;
    int peer;
    int tag;
};

// Where a rank sits: the number of its node, from 0 as ranks first name them, and which of that node's ranks
// it is, from 0 in the order of ranks.
struct NodePlace {
    int node;
    int core;
};

// Messages between ranks. `isend` and `irecv` return at once with a Request that `wait` or `wait_all` ends;
// buffers stay untouched until then. Tags are matched with the sender, in order, as in MPI; `recv_any` takes
// the next message of whichever sender and returns its rank; `irecv_any` does not tell it. A message may be
// shorter than the buffer that takes it. `combine` adds an operand of a reduction to another, on this rank
// alone. Collective words are one call each. `cart` gives the ranks of a
// grid, the last dimension fastest; `shift` then tells a rank's neighbours so many steps away in a dimension.
//
// `collective` does one at once. `prepare` makes one ready in a form, `prepare_exchange` a set of messages
// (persistent ones); either is done by ranks together. `placement` tells where a rank sits; `axes` the
// lengths of the grid in which a described machine's nodes stand (none: the machine has no such grid),
// `coordinates` the place of a rank's node in it.
template <class C>
concept Communicator = requires(C& comm, Bytes data, int peer, int tag, typename C::Request& request,
                                std::span<typename C::Request> requests, Exposure exposure, std::size_t bytes,
                                std::span<const int> dimensions, bool periodic, Type type, Reduce reduce,
                                const Call& call, Form form, std::span<const PersistentMessage> transfers) {
    { comm.rank() } -> std::same_as<int>;
    { comm.size() } -> std::same_as<int>;
    { comm.distance(peer, peer) } -> std::same_as<int>;
    comm.send(data, peer, tag).await_resume();
    comm.recv(data, peer, tag).await_resume();
    comm.sendrecv(data, peer, data, peer, tag).await_resume();
    { comm.isend(data, peer, tag) } -> std::same_as<typename C::Request>;
    { comm.irecv(data, peer, tag) } -> std::same_as<typename C::Request>;
    { comm.recv_any(data, tag).await_resume() } -> std::same_as<int>;
    { comm.irecv_any(data, tag) } -> std::same_as<typename C::Request>;
    comm.wait(request).await_resume();
    { comm.test(request).await_resume() } -> std::same_as<bool>;
    comm.wait_all(requests).await_resume();
    { comm.wait_any(requests).await_resume() } -> std::same_as<int>;
    comm.combine(data, data, type, reduce).await_resume();
    comm.copy(data, data).await_resume();
    comm.barrier().await_resume();
    comm.bcast(data, peer).await_resume();
    comm.allreduce(data, data, type, reduce).await_resume();
    comm.collective(call).await_resume();
    { comm.prepare(call, form).await_resume() } -> std::same_as<typename C::Prepared>;
    { comm.prepare_exchange(transfers, transfers) } -> std::same_as<typename C::Exchange>;
    { comm.placement(peer) } -> std::same_as<NodePlace>;
    { comm.axes() } -> std::same_as<std::vector<int>>;
    { comm.coordinates(peer) } -> std::same_as<std::vector<int>>;
    { comm.cart(dimensions, periodic).await_resume() } -> std::same_as<C>;
    { comm.shift(peer, peer) } -> std::same_as<Neighbours>;
    { comm.split(tag, tag).await_resume() } -> std::same_as<C>;
    { comm.dup().await_resume() } -> std::same_as<C>;
    { comm.window(bytes, exposure).await_resume() } -> std::same_as<typename C::Window>;
};

// What was made ready and is done again and again: `begin` starts it, `test` asks whether it is over (and
// lets the library work on it), `end` returns when it is. One that blocks is done when `begin` returns.
// `free` gives back what it holds; it must be called before the program ends.
template <class P>
concept Repeatable = requires(P& prepared) {
    prepared.begin().await_resume();
    { prepared.test().await_resume() } -> std::same_as<bool>;
    prepared.end().await_resume();
    prepared.free().await_resume();
};

// Memory of every rank that any rank may read and write without the owner's help. `put` and `get` are begun;
// `flush` returns when all that this rank began towards `target` has happened there. `notify` does so and
// then counts one up at the target; `notified` returns there once as many notices have come since the window
// was made. `reach` is a target's memory in a window that is shared: what was stored there is seen once a
// notice that followed it has come. `lock` returns when the target's memory is this rank's, alone or with
// others that share it; nobody must have it to read or write.
template <class W>
concept OneSided = requires(W& window, Bytes data, int target, std::size_t offset, std::int64_t notices) {
    { window.local() } -> std::same_as<Bytes>;
    { window.reach(target) } -> std::same_as<Bytes>;
    window.put(data, target, offset).await_resume();
    window.get(data, target, offset).await_resume();
    window.flush(target).await_resume();
    window.notify(target).await_resume();
    window.notified(notices).await_resume();
    window.lock(target, true).await_resume();
    window.unlock(target, true).await_resume();
    window.free().await_resume();
};

// What rank 0 decides at the end of a sample: whether there is another, and of how many operations.
struct Verdict {
    double more = 0;
    double batch = 1;
};
// Refers to what decides, and does not own it: every rank of a simulated million brings one.
class Decide {
public:
    Decide() = default;
    template <class Decider>
    Decide(
        Decider& decider)  // NOLINT(google-explicit-constructor): a reference to it, wherever one is wanted
        : decider_(&decider), ask_([](void* it, const std::vector<double>& all) {
              return static_cast<Decider*>(it)->decide(all);
          }) {}
    Verdict operator()(const std::vector<double>& all) const { return ask_(decider_, all); }

private:
    void* decider_ = nullptr;
    Verdict (*ask_)(void* decider, const std::vector<double>& all) = nullptr;
};

// How the harness itself speaks between ranks. It is apart from Comm so that a simulated machine can charge
// nothing for it, and so that nothing a benchmark does can be mistaken for it. `agree` hands in each rank's
// values (as many of each), lets rank 0 decide on those of all, in their order, and returns what it decided,
// the ranks aligned. `busy` keeps the processor busy for a time; `work` does a fixed amount of arithmetic,
// the same each time; `charge` is a computation's time on a simulated machine, which did not do it. `turn`
// waits for the core, and to send also for the gap, where a described machine's cores take up what comes as
// it comes. `computes`: ranks have memory and a processor each, so that a program's arithmetic is done, and
// `busy` and `work` take a processor's time; elsewhere computation is only charged, and a buffer is only a
// length. `carries` tells whether messages bring what was sent: only there can what a program computes be
// right.
template <class C>
concept HarnessControl = requires(C& control, std::span<const double> mine, const Decide& decide,
                                  double seconds, std::int64_t steps, Work work) {
    { control.rank() } -> std::same_as<int>;
    { control.size() } -> std::same_as<int>;
    { control.now() } -> std::same_as<double>;
    { control.agree(mine, decide).await_resume() } -> std::same_as<Verdict>;
    control.busy(seconds).await_resume();
    control.work(steps).await_resume();
    control.turn(true).await_resume();
    control.charge(work).await_resume();
    { control.align().await_resume() } -> std::same_as<double>;
    { control.since_start() } -> std::same_as<double>;
    { control.clock_error() } -> std::same_as<double>;
    { C::computes } -> std::convertible_to<bool>;
    { control.carries() } -> std::same_as<bool>;
};

}  // namespace leadline
