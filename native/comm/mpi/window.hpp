// Memory that others read and write, by MPI's windows or OpenSHMEM's symmetric heap.
#pragma once

#include <memory>

#include "comm/mpi/shmem.hpp"
#include "comm/mpi/types.hpp"
#include "comm/task.hpp"

namespace leadline {

class Window {
public:
    Window(MPI_Comm comm, std::size_t bytes, Exposure exposure);
    Bytes local() { return memory_; }
    [[nodiscard]] Bytes reach(int target) const;
    Ready<> put(Bytes data, int target, std::size_t offset) {
        const auto at = static_cast<MPI_Aint>(offset);
        if (shmem_) shmem::put(memory_.data() + offset, data.data(), data.size(), target);
        else if (fits(data.size())) [[likely]] {
            const auto count = static_cast<int>(data.size());
            check(MPI_Put(data.data(), count, MPI_BYTE, target, at, count, MPI_BYTE, handle_));
        } else large_put(data, target, at);
        return {};
    }
    Ready<> get(Bytes data, int target, std::size_t offset) {
        const auto at = static_cast<MPI_Aint>(offset);
        if (shmem_) shmem::get(data.data(), memory_.data() + offset, data.size(), target);
        else if (fits(data.size())) [[likely]] {
            const auto count = static_cast<int>(data.size());
            check(MPI_Get(data.data(), count, MPI_BYTE, target, at, count, MPI_BYTE, handle_));
        } else large_get(data, target, at);
        return {};
    }
    Ready<> flush(int target) {
        if (shmem_) shmem::quiet();
        else check(MPI_Win_flush(target, handle_));
        return {};
    }
    Ready<> notify(int target);
    Ready<> notified(std::int64_t count);
    // A lock word beside the target's memory, by atomic operations: the epoch of MPI_Win_lock_all that the
    // window is in for all its life excludes locks of MPI's own.
    Ready<> lock(int target, bool exclusive);
    Ready<> unlock(int target, bool exclusive);
    Ready<> free();  // collective; a window must be freed before the program ends

private:
    void large_put(Bytes data, int target, MPI_Aint at);
    void large_get(Bytes data, int target, MPI_Aint at);

    std::int64_t add_to_lock(int target, std::int64_t number);  // returns what it was
    // Notices are counted behind the memory, which is a cache line longer than asked for. Behind them is
    // the lock: how many hold it, or less than nothing where one does alone.
    [[nodiscard]] std::size_t counter() const { return memory_.size(); }
    [[nodiscard]] MPI_Aint lock_word() const {
        return static_cast<MPI_Aint>(counter() + sizeof(std::int64_t));
    }
    MPI_Win handle_ = MPI_WIN_NULL;
    Bytes memory_;
    std::unique_ptr<std::byte[]> own_;
    bool shmem_;
};

}  // namespace leadline
