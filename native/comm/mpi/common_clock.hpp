// A time that all ranks share, as far as their clocks allow, and a start at which they begin together.
//
// Ranks of a host read the same clock, which is checked once. Between hosts the first rank of each asks its
// reference for the time, in as many rounds as a binomial tree over the hosts has levels; a reference has
// found the common time before it tells it (Hunold and Carpen-Amarie, HCA3: hierarchical clock
// synchronisation in the MPI context). Every further round of questions adds to the samples, so that the
// longer a program runs the better the drift is known.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "comm/clock_model.hpp"

namespace leadline {

// The clock that a rank reads, and what equal words of two ranks say: that they read the same one.
struct ClockSource {
    std::int64_t (*nanoseconds)();
    std::string (*identity)();
};
// The host's monotonic clock.
ClockSource host_clock();

class CommonClock {
public:
    // Keeps `comm` to itself from the first start on; asks nobody before that.
    explicit CommonClock(MPI_Comm comm, ClockSource source = host_clock()) : comm_(comm), source_(source) {}

    // Returns at a start that the ranks agree on; by how much this rank missed it, s, or 0. Of all ranks
    // together.
    double align();
    // By the common time, s.
    [[nodiscard]] double since_start() const { return now() - start_; }
    // By what the common time of any rank may differ from rank 0's, s.
    [[nodiscard]] double error() const { return doubt_.error(now()); }

    [[nodiscard]] const ClockModel& model() const { return model_; }
    [[nodiscard]] bool shared() const { return leaders_.size() == 1; }  // all ranks read one clock
    [[nodiscard]] double slack() const { return slack_; }               // from agreement to start, s

private:
    [[nodiscard]] double local() const { return 1e-9 * static_cast<double>(source_.nanoseconds() - zero_); }
    [[nodiscard]] double now() const { return model_.common(local()); }

    void begin();
    void find_leaders();
    [[nodiscard]] bool reads_as(int reference);
    void answer(int rank, int questions);
    std::vector<ClockSample> ask(int rank, int questions);

    void renew();
    void climb();
    void learn(int reference);
    void teach(int rank);
    void hand_down();
    void measure_slack();
    [[nodiscard]] bool due() const;

    MPI_Comm comm_;
    ClockSource source_;
    int rank_ = 0;
    int size_ = 0;
    bool begun_ = false;
    std::int64_t zero_ = 0;  // of rank 0's clock
    double resolution_ = 0;

    std::vector<int> leaders_;  // the first rank of each clock
    std::vector<int> leader_;   // of each rank
    std::vector<ClockSample> samples_;
    ClockModel model_;
    ClockModel doubt_;    // the largest error of all ranks, by the common time
    double first_ = 0;    // when the clocks were first compared, common time, s
    double renewed_ = 0;  // and last
    double least_slack_ = 0;
    double slack_ = 0;
    double start_ = 0;
    double late_ = 0;
};

}  // namespace leadline
