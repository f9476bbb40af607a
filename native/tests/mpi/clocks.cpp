// The common clock over clocks that were planted: on one host the truth is known.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "comm/mpi/common_clock.hpp"
#include "words.hpp"

namespace leadline::words {
namespace {

std::int64_t true_time() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

// What was planted on this rank.
int planted_rank = 0;
std::int64_t begun = 0;

double planted_shift() { return 0.0125 * planted_rank; }  // s
double planted_drift() { return (planted_rank % 2 == 0 ? 20e-6 : -35e-6) * planted_rank; }

std::int64_t planted_time() {
    const std::int64_t since = true_time() - begun;
    return begun + since +
           static_cast<std::int64_t>(1e9 * planted_shift() + planted_drift() * static_cast<double>(since));
}
std::string own_name() { return "host " + std::to_string(planted_rank); }
std::string one_name() { return "host"; }

ClockSource source_of(const std::string& kind) {
    if (kind == "apart") return {planted_time, own_name};
    if (kind == "belied") return {planted_time, one_name};
    return host_clock();
}

// When, by the true clock, this rank's common time was the start; the tightest of a few readings.
double true_start(const CommonClock& clock) {
    double best = 1;
    double found = 0;
    for (int i = 0; i < 20; ++i) {
        const std::int64_t before = true_time();
        const double since = clock.since_start();
        const std::int64_t after = true_time();
        const double took = 1e-9 * static_cast<double>(after - before);
        if (took >= best) continue;
        best = took;
        found = 1e-9 * static_cast<double>(before - begun) + took / 2 - since;
    }
    return found;
}

std::vector<double> gathered(double mine, int ranks) {
    std::vector<double> all(static_cast<std::size_t>(ranks));
    check(MPI_Allgather(&mine, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD));
    return all;
}

}  // namespace

void tell_clocks(int rank, const std::string& kind, double seconds) {
    int ranks = 0;
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    planted_rank = rank;
    begun = true_time();
    check(MPI_Bcast(&begun, 1, MPI_INT64_T, 0, MPI_COMM_WORLD));
    MPI_Comm own = MPI_COMM_NULL;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &own));
    CommonClock clock(own, source_of(kind));
    nlohmann::json starts = nlohmann::json::array();
    double go_on = 1;
    while (go_on > 0) {
        const double late = clock.align();
        const std::vector<double> each = gathered(true_start(clock), ranks);
        const std::vector<double> lates = gathered(late, ranks);
        double away = 0;
        for (const double one : each) away = std::max(away, std::abs(one - each[0]));
        starts.push_back({{"away", away},
                          {"error", clock.error()},
                          {"slack", clock.slack()},
                          {"late", *std::ranges::max_element(lates)}});
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        go_on = gathered(1e-9 * static_cast<double>(true_time() - begun) < seconds ? 1 : 0, ranks)[0];
    }
    // A clock that runs fast by the drift is slow by it to who corrects it.
    const std::vector<double> drifts = gathered(clock.model().drift(), ranks);
    const std::vector<double> doubts = gathered(clock.model().drift_error(), ranks);
    const std::vector<double> planted = gathered(1 / (1 + planted_drift()) - 1, ranks);
    if (rank == 0)
        std::printf("%s\n", nlohmann::json{{"shared", clock.shared()},
                                           {"starts", starts},
                                           {"drifts", drifts},
                                           {"drift_errors", doubts},
                                           {"planted", planted}}
                                .dump()
                                .c_str());
    check(MPI_Comm_free(&own));
}

}  // namespace leadline::words
