// The vocabulary on a real machine: every word is one MPI call (or OpenSHMEM's, for a window that asks so).
#pragma once

#include <mpi.h>

#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "comm/clock.hpp"
#include "comm/mpi/shmem.hpp"
#include "comm/places.hpp"
#include "comm/vocabulary.hpp"

namespace leadline {

// Throws std::runtime_error with the library's own words for an error code.
[[noreturn]] void fail(int code);

// All MPI calls go through here. Inline, since a call would be a tenth of what the harness adds to a message.
inline void check(int code) {
    if (code != MPI_SUCCESS) [[unlikely]]
        fail(code);
}

inline MPI_Datatype mpi_type(Type type) {
    switch (type) {
        case Type::int32: return MPI_INT32_T;
        case Type::int64: return MPI_INT64_T;
        case Type::float32: return MPI_FLOAT;
        case Type::float64: return MPI_DOUBLE;
    }
    return MPI_DATATYPE_NULL;
}
inline MPI_Op mpi_reduction(Reduce reduce) {
    switch (reduce) {
        case Reduce::sum: return MPI_SUM;
        case Reduce::product: return MPI_PROD;
        case Reduce::smallest: return MPI_MIN;
    }
    return MPI_OP_NULL;
}

class Window {
public:
    Window(MPI_Comm comm, std::size_t bytes, Exposure exposure);
    Bytes local() { return memory_; }
    Ready<> put(Bytes data, int target, std::size_t offset) {
        if (shmem_) shmem::put(memory_.data() + offset, data.data(), data.size(), target);
        else
            check(MPI_Put(data.data(), static_cast<int>(data.size()), MPI_BYTE, target,
                          static_cast<MPI_Aint>(offset), static_cast<int>(data.size()), MPI_BYTE, handle_));
        return {};
    }
    Ready<> get(Bytes data, int target, std::size_t offset) {
        if (shmem_) shmem::get(data.data(), memory_.data() + offset, data.size(), target);
        else
            check(MPI_Get(data.data(), static_cast<int>(data.size()), MPI_BYTE, target,
                          static_cast<MPI_Aint>(offset), static_cast<int>(data.size()), MPI_BYTE, handle_));
        return {};
    }
    Ready<> flush(int target) {
        if (shmem_) shmem::quiet();
        else check(MPI_Win_flush(target, handle_));
        return {};
    }
    Ready<> notify(int target);
    Ready<> notified(std::int64_t count);
    Ready<> free();  // collective; a window must be freed before the program ends

private:
    // Notices are counted in the last eight bytes of the memory, which is that much longer than asked for.
    [[nodiscard]] std::size_t counter() const { return memory_.size(); }
    MPI_Win handle_ = MPI_WIN_NULL;
    Bytes memory_;
    std::unique_ptr<std::byte[]> own_;
    bool shmem_;
};

class Comm {
public:
    using Request = MPI_Request;
    using Window = leadline::Window;

    // `places` holds the place of each rank of the world.
    Comm(MPI_Comm handle, std::shared_ptr<const std::vector<Place>> places)
        : handle_(handle), places_(std::move(places)) {
        check(MPI_Comm_rank(handle_, &rank_));
        check(MPI_Comm_size(handle_, &size_));
    }
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] int distance(int a, int b) const;

    Ready<> send(Bytes data, int to, int tag = 0) {
        check(MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, to, tag, handle_));
        return {};
    }
    Ready<> recv(Bytes data, int from, int tag = 0) {
        check(MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, from, tag, handle_,
                       MPI_STATUS_IGNORE));
        return {};
    }
    Ready<> sendrecv(Bytes out, int to, Bytes in, int from, int tag = 0) {
        check(MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, tag, in.data(),
                           static_cast<int>(in.size()), MPI_BYTE, from, tag, handle_, MPI_STATUS_IGNORE));
        return {};
    }
    Request isend(Bytes data, int to, int tag = 0) {
        Request request = MPI_REQUEST_NULL;
        check(MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, to, tag, handle_, &request));
        return request;
    }
    Request irecv(Bytes data, int from, int tag = 0) {
        Request request = MPI_REQUEST_NULL;
        check(MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_BYTE, from, tag, handle_, &request));
        return request;
    }
    Ready<> wait(Request& request) {
        check(MPI_Wait(&request, MPI_STATUS_IGNORE));
        return {};
    }
    Ready<int> recv_any(Bytes data, int tag = 0) {
        MPI_Status status;
        check(MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, MPI_ANY_SOURCE, tag, handle_,
                       &status));
        return {status.MPI_SOURCE};
    }
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
    Ready<> barrier() {
        check(MPI_Barrier(handle_));
        return {};
    }
    Ready<> bcast(Bytes data, int root) {
        check(MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_BYTE, root, handle_));
        return {};
    }
    Ready<> allreduce(Bytes in, Bytes out, Type type, Reduce reduce) {
        check(MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size() / size_of(type)),
                            mpi_type(type), mpi_reduction(reduce), handle_));
        return {};
    }
    Ready<Comm> cart(std::span<const int> dimensions, bool periodic);
    [[nodiscard]] Neighbours shift(int dimension, int by) const;
    Ready<Comm> split(int color, int key) {
        MPI_Comm part = MPI_COMM_NULL;
        check(MPI_Comm_split(handle_, color, key, &part));
        return {Comm(part, places_)};
    }
    Ready<Comm> dup() {
        MPI_Comm copy = MPI_COMM_NULL;
        check(MPI_Comm_dup(handle_, &copy));
        return {Comm(copy, places_)};
    }
    Ready<Window> window(std::size_t bytes, Exposure exposure) { return {Window(handle_, bytes, exposure)}; }

private:
    MPI_Comm handle_;
    std::shared_ptr<const std::vector<Place>> places_;
    int rank_ = 0;
    int size_ = 0;
};

class Control {
public:
    static constexpr bool simulated = false;
    explicit Control(MPI_Comm comm);
    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int size() const { return size_; }
    [[nodiscard]] static double now() { return steady_seconds(); }

    Ready<Verdict> agree(std::span<const double> mine, const Decide& decide);
    // Keeps the processor busy for a while without touching memory or the network.
    Ready<> busy(double seconds) {
        for (const double end = now() + seconds; now() < end;) {}
        return {};
    }
    Ready<> work(std::int64_t steps) {
        spin(steps);
        return {};
    }
    static Ready<> charge(Work) { return {}; }

private:
    MPI_Comm handle_;
    int rank_ = 0;
    int size_ = 0;
};

// MPI from its start to its end, and what is known once it has started.
class Session {
public:
    Session(int& argc, char**& argv);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    static constexpr bool simulated = false;
    [[nodiscard]] int rank() const { return control_->rank(); }
    [[nodiscard]] int size() const { return control_->size(); }
    Comm world() { return {MPI_COMM_WORLD, places_}; }
    Control& control() { return *control_; }
    [[nodiscard]] const std::vector<Place>& places() const { return *places_; }
    static void configure(const nlohmann::json&) {}
    static void broadcast(std::string& text);                            // from rank 0 to all
    static std::vector<double> gather(const std::vector<double>& mine);  // at rank 0: those of all ranks
    // What a launch says of itself; of the library's own settings those whose name holds one of the words.
    [[nodiscard]] nlohmann::json facts(const std::vector<std::string>& settings) const;

    // This rank's program, to its end.
    template <class Program>
    void run(Program program) {
        program(world(), *control_).complete();
    }
    static bool exact() { return false; }
    static bool again() { return false; }
    static nlohmann::json answered() { return nlohmann::json::object(); }

    // Ends every rank of the program at once, after an error that the others cannot know of.
    [[noreturn]] static void abandon();

private:
    std::unique_ptr<Control> control_;
    std::shared_ptr<const std::vector<Place>> places_;
};

}  // namespace leadline
