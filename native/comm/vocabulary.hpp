// What a benchmark may say to a machine: the vocabulary that every backend speaks.
//
// A backend is a folder beside this file whose `backend.hpp` defines Comm, Request, Window and Control. A
// benchmark is compiled once against each backend and names none of them; `comm.hpp` checks that the chosen
// backend says everything below. Sizes are in bytes, times in seconds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/task.hpp"

namespace leadline {

using Bytes = std::span<std::byte>;

// How far apart two ranks are: -1 where that is not known (ranks that are not bound), below 3 on one node,
// above that 2 + the hops between their nodes (3 where the machine has no hops to tell).
enum Distance : int { unknown = -1, same_group = 0, same_package = 1, same_node = 2, other_node = 3 };

// How the memory of a window is made, or which library carries it; they differ by up to an order of
// magnitude.
enum class Exposure { allocated, created, shmem };

// How a reduction combines, and what.
enum class Reduce { sum, product, smallest };
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

// Messages between ranks. `isend` and `irecv` return at once with a Request that `wait` or `wait_all` ends;
// buffers stay untouched until then. Tags are matched with the sender, in order, as in MPI; `recv_any` takes
// the next message of whichever sender and returns its rank. A message may be shorter than the buffer that
// takes it. Collective words are one call each. `cart` gives the ranks of a grid, the last dimension fastest;
// `shift` then tells a rank's neighbours so many steps away in a dimension.
template <class C>
concept Communicator = requires(C& comm, Bytes data, int peer, int tag, typename C::Request& request,
                                std::span<typename C::Request> requests, Exposure exposure, std::size_t bytes,
                                std::span<const int> dimensions, bool periodic, Type type, Reduce reduce) {
    { comm.rank() } -> std::same_as<int>;
    { comm.size() } -> std::same_as<int>;
    { comm.distance(peer, peer) } -> std::same_as<int>;
    comm.send(data, peer, tag).await_resume();
    comm.recv(data, peer, tag).await_resume();
    comm.sendrecv(data, peer, data, peer, tag).await_resume();
    { comm.isend(data, peer, tag) } -> std::same_as<typename C::Request>;
    { comm.irecv(data, peer, tag) } -> std::same_as<typename C::Request>;
    { comm.recv_any(data, tag).await_resume() } -> std::same_as<int>;
    comm.wait(request).await_resume();
    { comm.test(request).await_resume() } -> std::same_as<bool>;
    comm.wait_all(requests).await_resume();
    { comm.wait_any(requests).await_resume() } -> std::same_as<int>;
    comm.barrier().await_resume();
    comm.bcast(data, peer).await_resume();
    comm.allreduce(data, data, type, reduce).await_resume();
    { comm.cart(dimensions, periodic).await_resume() } -> std::same_as<C>;
    { comm.shift(peer, peer) } -> std::same_as<Neighbours>;
    { comm.split(tag, tag).await_resume() } -> std::same_as<C>;
    { comm.dup().await_resume() } -> std::same_as<C>;
    { comm.window(bytes, exposure).await_resume() } -> std::same_as<typename C::Window>;
};

// Memory of every rank that any rank may read and write without the owner's help. `put` and `get` are begun;
// `flush` returns when all that this rank began towards `target` has happened there. `notify` does so and
// then counts one up at the target; `notified` returns there once as many notices have come since the window
// was made.
template <class W>
concept OneSided = requires(W& window, Bytes data, int target, std::size_t offset, std::int64_t notices) {
    { window.local() } -> std::same_as<Bytes>;
    window.put(data, target, offset).await_resume();
    window.get(data, target, offset).await_resume();
    window.flush(target).await_resume();
    window.notify(target).await_resume();
    window.notified(notices).await_resume();
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
// the same each time; `charge` is a computation's time on a simulated machine, which did not do it.
template <class C>
concept HarnessControl = requires(C& control, std::span<const double> mine, const Decide& decide,
                                  double seconds, std::int64_t steps, Work work) {
    { control.rank() } -> std::same_as<int>;
    { control.size() } -> std::same_as<int>;
    { control.now() } -> std::same_as<double>;
    { control.agree(mine, decide).await_resume() } -> std::same_as<Verdict>;
    control.busy(seconds).await_resume();
    control.work(steps).await_resume();
    control.charge(work).await_resume();
    { C::simulated } -> std::convertible_to<bool>;
};

}  // namespace leadline
