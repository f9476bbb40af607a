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

// A request that this machine or library cannot serve: the point is skipped with this reason.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Messages between ranks. `isend` and `irecv` return at once with a Request that `wait` or `wait_all` ends;
// buffers stay untouched until then. Tags are matched with the sender, in order, as in MPI; `recv_any` takes
// the next message of whichever sender and returns its rank. A message may be shorter than the buffer that
// takes it.
template <class C>
concept Communicator =
    requires(C& comm, Bytes data, int peer, int tag, typename C::Request& request,
             std::span<typename C::Request> requests, Exposure exposure, std::size_t bytes) {
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
        { comm.split(tag, tag).await_resume() } -> std::same_as<C>;
        { comm.dup().await_resume() } -> std::same_as<C>;
        { comm.window(bytes, exposure).await_resume() } -> std::same_as<typename C::Window>;
    };

// Memory of every rank that any rank may read and write without the owner's help. `put` and `get` are begun;
// `flush` returns when all that this rank began towards `target` has happened there.
template <class W>
concept OneSided = requires(W& window, Bytes data, int target, std::size_t offset) {
    { window.local() } -> std::same_as<Bytes>;
    window.put(data, target, offset).await_resume();
    window.get(data, target, offset).await_resume();
    window.flush(target).await_resume();
    window.free().await_resume();
};

// How the harness itself speaks between ranks. It is apart from Comm so that a simulated machine can charge
// nothing for it, and so that nothing a benchmark does can be mistaken for it. `busy` keeps the processor
// busy for a time; `work` does a fixed amount of arithmetic, the same each time.
template <class C>
concept HarnessControl = requires(C& control, std::span<const double> mine, std::vector<double>& all,
                                  std::span<double> shared, double seconds, std::int64_t steps) {
    { control.rank() } -> std::same_as<int>;
    { control.size() } -> std::same_as<int>;
    { control.now() } -> std::same_as<double>;
    control.gather(mine, all).await_resume();
    control.broadcast(shared).await_resume();
    control.align().await_resume();
    control.busy(seconds).await_resume();
    control.work(steps).await_resume();
};

}  // namespace leadline
