// What the kernels share: how they are asked, what they tell, and a file of arrays that is moved and checked.
#pragma once

#include <functional>

#include "harness/benchmark.hpp"
#include "io/store/array.hpp"

namespace leadline::io {

// The sweeps and metrics of every kernel.
std::vector<Sweep> sweeps();
std::vector<Metric> metrics();

// The arrays of a kernel's file, and each rank's part of each.
struct Contents {
    std::vector<Array> arrays;
    std::function<Hyperslab(std::size_t array, int rank)> part;

    [[nodiscard]] double bytes() const;
};

// What a kernel's full size is divided by; the sizes are each rank's, or of all ranks together.
struct Size {
    Length shrink = 1;
    bool strong = false;

    // That many of `full` a rank, and how many all have: at least one each.
    [[nodiscard]] Length of_all(Length full, int ranks) const;
};
Size size_of(const Run& run);

// Skips where files cannot be written: all ranks alike.
void check_here(const Run& run, bool available, const std::string& lacking);

// Times of one file's way, s.
struct Times {
    double open = 0;
    double transfer = 0;
    double close = 0;

    void sample(Run& run, double bytes) const;
};

// Where the point's file is; and without it, by the ranks whose it is, after all ranks have come so far.
std::string file_of(const Run& run, const std::string& ending);
Task<> remove(Run& run, const std::string& path, bool mine);

// A rank's way through its file, or with a shift through that of another rank.
class Way {
public:
    explicit Way(Run& run) : run_(run), together_(run.word("transfer") == "collective") {}
    virtual ~Way() = default;
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;
    Way(Way&&) = delete;
    Way& operator=(Way&&) = delete;

    // The whole file, once there or once back. Contents are made and judged beside the clock.
    virtual Task<Times> move(bool writes, int shift) = 0;
    virtual Task<> remove() = 0;

protected:
    [[nodiscard]] int other(int shift) const { return (run_.rank() + shift) % run_.ranks(); }

    Run& run_;
    bool together_;
};

// Moves the file of `bytes` as often as samples are wanted; what is written is read back and checked. A rank
// reads what another wrote: its own could come out of what it kept itself.
Task<> repeat(Run& run, Way& way, double bytes);

// Writes or reads the file of HDF5 as often as samples are wanted, and checks every byte.
Task<> move_arrays(Run& run, const Contents& contents);

}  // namespace leadline::io
