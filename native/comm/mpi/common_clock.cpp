#include "comm/mpi/common_clock.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <functional>
#include <type_traits>
#include <unordered_map>

#include "comm/mpi/types.hpp"

namespace leadline {
namespace {

constexpr int tag = 0;
constexpr int questions_a_burst = 10;
constexpr int first_bursts = 10;
constexpr double first_spacing = 1e-3;  // s, so that the first samples tell a drift at all
constexpr int further_bursts = 3;
constexpr double soonest_renewal = 0.05;  // s
constexpr double latest_renewal = 1;      // s
constexpr double kept_for = 10;           // s: a drift changes with the temperature
constexpr double in_time = 250e-9;        // s: what ten readings of a clock take
constexpr double shortest_slack = 30e-6;  // s
constexpr double longest_slack = 5e-3;    // s

std::int64_t monotonic() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// Host names may repeat, a boot's number does not; a container may have a time of its own.
std::string host_identity() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    std::array<char, 256> times{};
    if (readlink("/proc/self/ns/time", times.data(), times.size() - 1) < 0) times[0] = '\0';
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return std::string(name.data()) + ' ' + boot + ' ' + times.data();
}

void wait_until(double end, const auto& now) {
    while (now() < end) {}
}

}  // namespace

ClockSource host_clock() { return {monotonic, host_identity}; }

void CommonClock::begin() {
    check(MPI_Comm_rank(comm_, &rank_));
    check(MPI_Comm_size(comm_, &size_));
    zero_ = source_.nanoseconds();
    check(MPI_Bcast(&zero_, 1, MPI_INT64_T, 0, comm_));
    resolution_ = 1;
    for (int i = 0; i < 1000; ++i) {
        const double last = local();
        double next = last;
        while (next <= last) next = local();
        resolution_ = std::min(resolution_, next - last);
    }
    model_ = ClockModel::doubtful(local(), resolution_, 0);
    find_leaders();
    first_ = now();
    renew();
    begun_ = true;
}

void CommonClock::answer(int rank, int questions) {
    for (int i = 0; i < questions; ++i) {
        check(MPI_Recv(nullptr, 0, MPI_BYTE, rank, tag, comm_, MPI_STATUS_IGNORE));
        const double told = now();
        check(MPI_Send(&told, 1, MPI_DOUBLE, rank, tag, comm_));
    }
}

std::vector<ClockSample> CommonClock::ask(int rank, int questions) {
    std::vector<ClockSample> samples;
    for (int i = 0; i < questions; ++i) {
        double told = 0;
        const double begin = local();
        check(MPI_Send(nullptr, 0, MPI_BYTE, rank, tag, comm_));
        check(MPI_Recv(&told, 1, MPI_DOUBLE, rank, tag, comm_, MPI_STATUS_IGNORE));
        const double end = local();
        samples.push_back({(begin + end) / 2, told, end - begin});
    }
    return samples;
}

bool CommonClock::reads_as(int reference) {
    const ClockSample best = shortest(ask(reference, questions_a_burst));
    return std::abs(best.common - best.local) <= best.round_trip / 2 + resolution_;
}

// By the names of their clocks; a rank whose clock belies its name stands alone.
void CommonClock::find_leaders() {
    const auto mine = static_cast<std::uint64_t>(std::hash<std::string>()(source_.identity()));
    std::vector<std::uint64_t> names(static_cast<std::size_t>(size_));
    check(MPI_Allgather(&mine, 1, MPI_UINT64_T, names.data(), 1, MPI_UINT64_T, comm_));
    std::unordered_map<std::uint64_t, int> first;
    for (int rank = 0; rank < size_; ++rank) first.emplace(names[static_cast<std::size_t>(rank)], rank);
    int leader = first.at(mine);
    if (leader == rank_) {
        for (int rank = rank_ + 1; rank < size_; ++rank)
            if (names[static_cast<std::size_t>(rank)] == mine) answer(rank, questions_a_burst);
    } else if (!reads_as(leader)) {
        leader = rank_;
    }
    leader_.resize(static_cast<std::size_t>(size_));
    check(MPI_Allgather(&leader, 1, MPI_INT, leader_.data(), 1, MPI_INT, comm_));
    for (int rank = 0; rank < size_; ++rank)
        if (leader_[static_cast<std::size_t>(rank)] == rank) leaders_.push_back(rank);
}

void CommonClock::teach(int rank) {
    int questions = 0;
    check(MPI_Recv(&questions, 1, MPI_INT, rank, tag, comm_, MPI_STATUS_IGNORE));
    answer(rank, questions);
    const double at = local();
    const std::array<double, 3> doubt{now(), model_.error(at), model_.drift_error()};
    check(MPI_Send(doubt.data(), 3, MPI_DOUBLE, rank, tag, comm_));
}

void CommonClock::learn(int reference) {
    const bool first = samples_.empty();
    const int bursts = first ? first_bursts : further_bursts;
    const int questions = bursts * questions_a_burst;
    check(MPI_Send(&questions, 1, MPI_INT, reference, tag, comm_));
    double next = local();
    for (int i = 0; i < bursts; ++i) {
        wait_until(next, [this] { return local(); });
        samples_.push_back(shortest(ask(reference, questions_a_burst)));
        if (first) next += first_spacing;
    }
    const double oldest = samples_.back().local - kept_for;
    std::erase_if(samples_, [&](const ClockSample& each) { return each.local < oldest; });
    std::array<double, 3> doubt{};
    check(MPI_Recv(doubt.data(), 3, MPI_DOUBLE, reference, tag, comm_, MPI_STATUS_IGNORE));
    model_ = ClockModel::fit(samples_, resolution_).then(ClockModel::doubtful(doubt[0], doubt[1], doubt[2]));
}

// From the root of a binomial tree over the leaders to its leaves: who teaches has learnt.
void CommonClock::climb() {
    const auto count = static_cast<int>(leaders_.size());
    const auto found = std::ranges::find(leaders_, rank_);
    if (found == leaders_.end()) return;
    const auto place = static_cast<int>(found - leaders_.begin());
    int step = 1;
    while (step < count) step *= 2;
    for (step /= 2; step >= 1; step /= 2) {
        const int within = place % (2 * step);
        if (within == 0 && place + step < count)
            teach(leaders_[static_cast<std::size_t>(place) + static_cast<std::size_t>(step)]);
        if (within == step) learn(leaders_[static_cast<std::size_t>(place - step)]);
    }
}

// From each leader to the ranks that read the same clock.
void CommonClock::hand_down() {
    constexpr auto size = static_cast<int>(sizeof model_);
    static_assert(std::is_trivially_copyable_v<ClockModel>);
    const int leader = leader_[static_cast<std::size_t>(rank_)];
    if (leader != rank_) {
        check(MPI_Recv(&model_, size, MPI_BYTE, leader, tag, comm_, MPI_STATUS_IGNORE));
        return;
    }
    for (int rank = rank_ + 1; rank < size_; ++rank)
        if (leader_[static_cast<std::size_t>(rank)] == rank_)
            check(MPI_Send(&model_, size, MPI_BYTE, rank, tag, comm_));
}

// What it takes until every rank has heard of a start: the median of a few broadcasts, twice.
void CommonClock::measure_slack() {
    std::array<double, 7> each{};
    for (double& slowest : each) {
        check(MPI_Barrier(comm_));
        double sent = now();
        check(MPI_Bcast(&sent, 1, MPI_DOUBLE, 0, comm_));
        const double mine = now() - sent;
        check(MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, comm_));
    }
    std::ranges::sort(each);
    least_slack_ = std::clamp(2 * each[each.size() / 2], shortest_slack, longest_slack);
    slack_ = std::max(slack_, least_slack_);
}

void CommonClock::renew() {
    if (!shared()) {
        climb();
        hand_down();
    }
    // The doubt grows from when the first rank said how much it was: ranks that share a core come to it one
    // after the other, some milliseconds apart.
    const double at = local();
    const std::array<double, 3> mine{model_.error(at), model_.drift_error(), -model_.common(at)};
    std::array<double, 3> worst{};
    check(MPI_Allreduce(mine.data(), worst.data(), 3, MPI_DOUBLE, MPI_MAX, comm_));
    renewed_ = now();
    doubt_ = ClockModel::doubtful(-worst[2], worst[0], worst[1]);
    measure_slack();
}

// As soon as the clocks have run by themselves for as long as they were known before, or for a second.
bool CommonClock::due() const {
    return now() - renewed_ > std::clamp(renewed_ - first_, soonest_renewal, latest_renewal);
}

double CommonClock::align() {
    if (!begun_) begin();
    // Nobody leaves this before all have come. Only rank 0 says when to renew: nobody decides alone.
    const std::array<double, 2> mine{late_, rank_ == 0 && due() ? 1.0 : 0.0};
    std::array<double, 2> most{};
    check(MPI_Allreduce(mine.data(), most.data(), 2, MPI_DOUBLE, MPI_MAX, comm_));
    if (most[1] > 0) renew();
    // Longer when somebody came too late; then by and by as short as before.
    if (most[0] > 0) slack_ = std::min(1.5 * slack_, longest_slack);
    else slack_ = std::max(0.98 * slack_, least_slack_);
    start_ = now() + slack_;
    check(MPI_Bcast(&start_, 1, MPI_DOUBLE, 0, comm_));
    wait_until(start_, [this] { return now(); });
    late_ = now() - start_;
    if (late_ < in_time + 2 * resolution_) late_ = 0;
    return late_;
}

}  // namespace leadline
