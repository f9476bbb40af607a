// Messages and collectives between the ranks of an MPI communicator.
#pragma once

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "comm/mpi/prepared.hpp"
#include "comm/mpi/types.hpp"
#include "comm/mpi/window.hpp"
#include "comm/places.hpp"
#include "comm/task.hpp"

namespace leadline {

// Where each rank of the world runs.
struct Everybody {
    std::vector<Place> places;
    std::vector<NodePlace> placements;
};
// Nodes by the names of hosts.
std::vector<NodePlace> node_places(const std::vector<Place>& places);

class Comm {
public:
    using Request = MPI_Request;
    using Window = leadline::Window;
    using Prepared = leadline::Prepared;
    using Exchange = leadline::Exchange;

    Comm(MPI_Comm handle, std::shared_ptr<const Everybody> ranks)
        : handle_(handle), ranks_(std::move(ranks)) {
        check(MPI_Comm_rank(handle_, &rank_));
        check(MPI_Comm_size(handle_, &size_));
    }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    // For libraries that speak MPI themselves, such as HDF5.
    [[nodiscard]] MPI_Comm handle() const { return handle_; }
    [[nodiscard]] int distance(int a, int b) const;
    [[nodiscard]] NodePlace placement(int rank) const { return ranks_->placements.at(in_world(rank)); }
    // A real machine does not tell in which grid its nodes stand.
    [[nodiscard]] static std::vector<int> axes() { return {}; }
    [[nodiscard]] static std::vector<int> coordinates(int) { return {}; }

    Ready<> send(Bytes data, int to, int tag = 0) {
        if (fits(data.size())) [[likely]]
            check(MPI_Send(data.data(), count(data), MPI_BYTE, to, tag, handle_));
        else large_send(data, to, tag);
        return {};
    }
    Ready<> recv(Bytes data, int from, int tag = 0) {
        if (fits(data.size())) [[likely]]
            check(MPI_Recv(data.data(), count(data), MPI_BYTE, from, tag, handle_, MPI_STATUS_IGNORE));
        else large_recv(data, from, tag, MPI_STATUS_IGNORE);
        return {};
    }
    Ready<> sendrecv(Bytes out, int to, Bytes in, int from, int tag = 0) {
        if (fits(out.size()) && fits(in.size())) [[likely]]
            check(MPI_Sendrecv(out.data(), count(out), MPI_BYTE, to, tag, in.data(), count(in), MPI_BYTE,
                               from, tag, handle_, MPI_STATUS_IGNORE));
        else large_sendrecv(out, to, in, from, tag);
        return {};
    }
    Request isend(Bytes data, int to, int tag = 0) {
        Request request = MPI_REQUEST_NULL;
        if (fits(data.size())) [[likely]]
            check(MPI_Isend(data.data(), count(data), MPI_BYTE, to, tag, handle_, &request));
        else large_isend(data, to, tag, request);
        return request;
    }
    Request irecv(Bytes data, int from, int tag = 0) {
        Request request = MPI_REQUEST_NULL;
        if (fits(data.size())) [[likely]]
            check(MPI_Irecv(data.data(), count(data), MPI_BYTE, from, tag, handle_, &request));
        else large_irecv(data, from, tag, request);
        return request;
    }
    Ready<> wait(Request& request) {
        check(MPI_Wait(&request, MPI_STATUS_IGNORE));
        return {};
    }
    Ready<int> recv_any(Bytes data, int tag = 0) {
        MPI_Status status;
        if (fits(data.size())) [[likely]]
            check(MPI_Recv(data.data(), count(data), MPI_BYTE, MPI_ANY_SOURCE, tag, handle_, &status));
        else large_recv(data, MPI_ANY_SOURCE, tag, &status);
        return {status.MPI_SOURCE};
    }
    Request irecv_any(Bytes data, int tag = 0) { return irecv(data, MPI_ANY_SOURCE, tag); }
    Ready<bool> test(Request& request) {
        int done = 0;
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        return {done != 0};
    }
    Ready<> wait_all(std::span<Request> requests) {
        check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
        return {};
    }
    Ready<int> wait_any(std::span<Request> requests) {
        int index = MPI_UNDEFINED;
        check(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE));
        return {index};
    }
    Ready<> combine(Bytes in, Bytes out, Type type, Reduce reduce) {
        const std::size_t elements = in.size() / size_of(type);
        if (!fits(elements)) throw Unsupported("MPI combines 2^31 - 1 numbers in one call, at most");
        check(MPI_Reduce_local(in.data(), out.data(), static_cast<int>(elements), mpi_type(type),
                               mpi_reduction(reduce, type)));
        return {};
    }
    static Ready<> copy(Bytes in, Bytes out) {
        std::memcpy(out.data(), in.data(), in.size());
        asm volatile("" : : "r"(out.data()) : "memory");  // as if somebody read it
        return {};
    }
    Ready<> barrier() {
        check(MPI_Barrier(handle_));
        return {};
    }
    Ready<> bcast(Bytes data, int root) {
        if (fits(data.size())) [[likely]]
            check(MPI_Bcast(data.data(), count(data), MPI_BYTE, root, handle_));
        else do_at_once({.what = Collective::bcast, .in = data, .root = root}, handle_);
        return {};
    }
    Ready<> allreduce(Bytes in, Bytes out, Type type, Reduce reduce) {
        const std::size_t elements = in.size() / size_of(type);
        if (fits(elements)) [[likely]]
            check(MPI_Allreduce(in.data(), out.data(), static_cast<int>(elements), mpi_type(type),
                                mpi_reduction(reduce, type), handle_));
        else
            do_at_once({.what = Collective::allreduce, .out = in, .in = out, .type = type, .reduce = reduce},
                       handle_);
        return {};
    }
    Ready<> collective(const Call& call) {
        do_at_once(call, handle_);
        return {};
    }
    Ready<Prepared> prepare(const Call& call, Form form) { return {Prepared(call, form, handle_)}; }
    Exchange prepare_exchange(std::span<const PersistentMessage> sends,
                              std::span<const PersistentMessage> receives) {
        return {sends, receives, handle_};
    }
    Ready<Comm> cart(std::span<const int> dimensions, bool periodic);
    [[nodiscard]] Neighbours shift(int dimension, int by) const;
    Ready<Comm> split(int color, int key) {
        MPI_Comm part = MPI_COMM_NULL;
        check(MPI_Comm_split(handle_, color, key, &part));
        return {Comm(part, ranks_)};
    }
    Ready<Comm> dup() {
        MPI_Comm copy = MPI_COMM_NULL;
        check(MPI_Comm_dup(handle_, &copy));
        return {Comm(copy, ranks_)};
    }
    Ready<Window> window(std::size_t bytes, Exposure exposure) { return {Window(handle_, bytes, exposure)}; }

private:
    static int count(Bytes data) { return static_cast<int>(data.size()); }
    void large_send(Bytes data, int to, int tag);
    void large_recv(Bytes data, int from, int tag, MPI_Status* status);
    void large_sendrecv(Bytes out, int to, Bytes in, int from, int tag);
    void large_isend(Bytes data, int to, int tag, Request& request);
    void large_irecv(Bytes data, int from, int tag, Request& request);
    [[nodiscard]] std::size_t in_world(int rank) const;

    MPI_Comm handle_;
    std::shared_ptr<const Everybody> ranks_;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace leadline
