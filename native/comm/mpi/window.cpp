#include "comm/mpi/window.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace leadline {
namespace {

constexpr std::size_t line = 64;
constexpr std::int64_t alone = -(std::int64_t{1} << 40U);  // in a lock: below whatever ranks add meanwhile

#ifdef __linux__
// Huge pages for the whole pages of it, where the system gives them to memory that is shared; else nothing is
// lost.
void advise(std::byte* base, std::size_t bytes) {
    constexpr std::size_t page = 4096;
    const std::size_t over = (page - reinterpret_cast<std::uintptr_t>(base) % page) % page;
    if (bytes > over + page) madvise(base + over, (bytes - over) / page * page, MADV_HUGEPAGE);
}
#endif

// Memory that all ranks store to is one node's.
void check_sharing(MPI_Comm comm) {
    MPI_Comm node = MPI_COMM_NULL;
    int here = 0;
    int all = 0;
    check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    check(MPI_Comm_size(node, &here));
    check(MPI_Comm_free(&node));
    check(MPI_Comm_size(comm, &all));
    int least = here;  // as all ranks must come to the same conclusion
    check(MPI_Allreduce(&here, &least, 1, MPI_INT, MPI_MIN, comm));
    if (least < all)
        throw Unsupported("memory is shared by " + std::to_string(least) + " of " + std::to_string(all) +
                          " ranks: take put, or ranks of one node");
}

// A window that the library does not make is a question that cannot be asked, not the end of the launch.
void made(int code) {
    try {
        check(code);
    } catch (const std::runtime_error& reason) {
        throw Unsupported(std::string("this MPI does not make such a window: ") + reason.what());
    }
}

}  // namespace

Window::Window(MPI_Comm comm, std::size_t bytes, Exposure exposure) : shmem_(exposure == Exposure::shmem) {
    // Whole cache lines, and one for the notices. A window of no bytes has no address to aim at; and MPICH
    // 4.0.2 puts beside the memory that it allocated where a size is no multiple of 16.
    const std::size_t room = (std::max<std::size_t>(bytes, 1) + line - 1) / line * line;
    const std::size_t size = room + line;
    std::byte* base = nullptr;
    if (shmem_) {
        if (!shmem::available()) throw Unsupported("this MPI comes without OpenSHMEM");
        base = shmem::allocate(size);
        if (!base)
            throw Unsupported("OpenSHMEM's symmetric heap has no room for " + std::to_string(size) +
                              " B; raise SHMEM_SYMMETRIC_SIZE");
    } else if (exposure == Exposure::allocated) {
        made(MPI_Win_allocate(static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, &base, &handle_));
    } else if (exposure == Exposure::shared) {
        check_sharing(comm);
        made(MPI_Win_allocate_shared(static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, &base, &handle_));
#ifdef __linux__
        advise(base, size);
#endif
    } else {
        own_ = std::make_unique<std::byte[]>(size);
        base = own_.get();
        made(MPI_Win_create(base, static_cast<MPI_Aint>(size), 1, MPI_INFO_NULL, comm, &handle_));
    }
    memory_ = {base, room};
    std::fill_n(base, size, std::byte{});
    check(MPI_Barrier(comm));  // nobody writes, or gives notice, before the memory is cleared
    if (!shmem_) {
        check(MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN));
        check(MPI_Win_lock_all(MPI_MODE_NOCHECK, handle_));
    }
}

Bytes Window::reach(int target) const {
    MPI_Aint size = 0;
    int unit = 0;
    std::byte* base = nullptr;
    check(MPI_Win_shared_query(handle_, target, &size, &unit, static_cast<void*>(&base)));
    return {base, memory_.size()};
}

Ready<> Window::notify(int target) {
    if (shmem_) {
        shmem::quiet();
        shmem::count_up(memory_.data() + counter(), target);
        return {};
    }
    static const std::int64_t one = 1;
    check(MPI_Win_flush(target, handle_));
    check(MPI_Accumulate(&one, 1, MPI_INT64_T, target, static_cast<MPI_Aint>(counter()), 1, MPI_INT64_T,
                         MPI_SUM, handle_));
    check(MPI_Win_flush(target, handle_));
    return {};
}

Ready<> Window::notified(std::int64_t count) {
    if (shmem_) {
        shmem::wait_for(memory_.data() + counter(), count);
        return {};
    }
    // Read through the library: only so does an accumulate of a neighbour surely come to be seen.
    int me = 0;
    MPI_Group group = MPI_GROUP_NULL;
    check(MPI_Win_get_group(handle_, &group));
    check(MPI_Group_rank(group, &me));
    check(MPI_Group_free(&group));
    const std::int64_t nothing = 0;
    for (std::int64_t seen = 0; seen < count;) {
        check(MPI_Fetch_and_op(&nothing, &seen, MPI_INT64_T, me, static_cast<MPI_Aint>(counter()), MPI_NO_OP,
                               handle_));
        check(MPI_Win_flush(me, handle_));
    }
    return {};
}

std::int64_t Window::add_to_lock(int target, std::int64_t number) {
    std::int64_t before = 0;
    check(MPI_Fetch_and_op(&number, &before, MPI_INT64_T, target, lock_word(), MPI_SUM, handle_));
    check(MPI_Win_flush(target, handle_));
    return before;
}

Ready<> Window::lock(int target, bool exclusive) {
    if (shmem_) throw Unsupported("windows of OpenSHMEM have no locks");
    // By additions alone: Open MPI 4.1.4 crashes in MPI_Compare_and_swap. Who has it may need this processor.
    const std::int64_t mine = exclusive ? alone : 1;
    const auto fits = [exclusive](std::int64_t seen) { return exclusive ? seen == 0 : seen >= 0; };
    for (std::int64_t seen = 0;; seen = add_to_lock(target, 0)) {
        if (fits(seen)) {
            if (fits(add_to_lock(target, mine))) return {};
            add_to_lock(target, -mine);
        }
        std::this_thread::yield();
    }
}

Ready<> Window::unlock(int target, bool exclusive) {
    add_to_lock(target, exclusive ? -alone : -1);
    return {};
}

Ready<> Window::free() {
    if (shmem_) {
        shmem::release(memory_.data());
    } else {
        check(MPI_Win_unlock_all(handle_));
        check(MPI_Win_free(&handle_));
    }
    memory_ = {};
    return {};
}

void Window::large_put(Bytes data, [[maybe_unused]] int target, [[maybe_unused]] MPI_Aint at) {
    LEADLINE_LARGE(MPI_Put, data.size(), data.data(), static_cast<MPI_Count>(data.size()), MPI_BYTE, target,
                   at, static_cast<MPI_Count>(data.size()), MPI_BYTE, handle_);
}

void Window::large_get(Bytes data, [[maybe_unused]] int target, [[maybe_unused]] MPI_Aint at) {
    LEADLINE_LARGE(MPI_Get, data.size(), data.data(), static_cast<MPI_Count>(data.size()), MPI_BYTE, target,
                   at, static_cast<MPI_Count>(data.size()), MPI_BYTE, handle_);
}

}  // namespace leadline
