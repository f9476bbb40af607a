#include "comm/mpi/control.hpp"

#include <array>
#include <vector>

namespace leadline {

Control::Control(MPI_Comm comm) {
    check(MPI_Comm_dup(comm, &handle_));
    check(MPI_Comm_rank(handle_, &rank_));
    check(MPI_Comm_size(handle_, &size_));
    clock_ = std::make_shared<CommonClock>(handle_);
}

Ready<Verdict> Control::agree(std::span<const double> mine, const Decide& decide) {
    std::vector<double> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
    const auto width = static_cast<int>(mine.size());
    check(MPI_Gather(mine.data(), width, MPI_DOUBLE, all.data(), width, MPI_DOUBLE, 0, handle_));
    Verdict verdict;
    if (rank_ == 0) verdict = decide(all);
    std::array<double, 2> shared{verdict.more, verdict.batch};
    check(MPI_Bcast(shared.data(), static_cast<int>(shared.size()), MPI_DOUBLE, 0, handle_));
    if (shared[0] != 0) check(MPI_Barrier(handle_));
    return {{shared[0], shared[1]}};
}

}  // namespace leadline
