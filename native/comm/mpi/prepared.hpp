// Collectives and sets of messages that are made ready once and done again and again.
#pragma once

#include <memory>
#include <vector>

#include "comm/mpi/operations.hpp"
#include "comm/mpi/types.hpp"
#include "comm/task.hpp"

namespace leadline {

// Does a collective at once. What one rank alone cannot say (see Sized) is refused on that rank alone.
void do_at_once(const Call& call, MPI_Comm comm);

// A collective in one of its forms: beside MPI's own call there is one jump to it.
class Prepared {
public:
    // The ranks agree on what they ask for, so that they refuse together what one of them cannot say.
    Prepared(const Call& call, Form form, MPI_Comm comm);

    Ready<> begin() {
        if (form_ == Form::persistent) check(MPI_Start(&request_));
        else check(say_(arguments_, &request_));
        return {};
    }
    Ready<bool> test() {
        int done = 1;
        if (form_ != Form::blocking) check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE));
        return {done != 0};
    }
    Ready<> end() {
        if (form_ != Form::blocking) check(MPI_Wait(&request_, MPI_STATUS_IGNORE));
        return {};
    }
    Ready<> free() {
        if (request_ != MPI_REQUEST_NULL) check(MPI_Request_free(&request_));
        bound_.reset();
        return {};
    }

private:
    template <class Count, class Offset>
    void bind(const Call& call, MPI_Comm comm, bool by_layout);

    Form form_;
    MpiCall say_ = nullptr;
    const void* arguments_ = nullptr;
    MPI_Request request_ = MPI_REQUEST_NULL;
    std::shared_ptr<const void> bound_;
};

// Persistent messages, started and ended together.
class Exchange {
public:
    Exchange(std::span<const PersistentMessage> sends, std::span<const PersistentMessage> receives,
             MPI_Comm comm);

    Ready<> begin() {
        check(MPI_Startall(count(), requests_.data()));
        return {};
    }
    Ready<bool> test() {
        int done = 0;
        check(MPI_Testall(count(), requests_.data(), &done, MPI_STATUSES_IGNORE));
        return {done != 0};
    }
    Ready<> end() {
        check(MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE));
        return {};
    }
    Ready<> free() {
        for (MPI_Request& each : requests_) check(MPI_Request_free(&each));
        requests_.clear();
        return {};
    }

private:
    [[nodiscard]] int count() const { return static_cast<int>(requests_.size()); }
    std::vector<MPI_Request> requests_;
};

}  // namespace leadline
