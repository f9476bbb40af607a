// A recorded program as its file has it: sequences of operations, which rank executes which.
//
// docs/program-format.md is the definition. Sequences stay folded and are shared by ranks: a step is read
// many times and never copied.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace leadline::program {

// By the numbers of the format.
enum class Kind : std::uint8_t {
    end = 0,
    loop = 1,
    nop = 2,
    send = 10,
    recv = 11,
    sendrecv = 12,
    probe = 13,
    start = 14,
    wait = 15,
    free = 16,
    cancel = 17,
    barrier = 20,
    bcast = 21,
    reduce = 22,
    allreduce = 23,
    gather = 24,
    scatter = 25,
    allgather = 26,
    alltoall = 27,
    reduce_scatter = 28,
    scan = 29,
    exscan = 30,
    neighbor_allgather = 31,
    neighbor_alltoall = 32,
    comm = 40,
    comm_free = 41,
    win = 50,
    win_free = 51,
    put = 52,
    get = 53,
    accumulate = 54,
    fence = 55,
    lock = 56,
    unlock = 57,
    flush = 58,
    post = 59,
    start_epoch = 60,
    complete = 61,
    wait_epoch = 62,
    region_begin = 70,
    region_end = 71,
    file = 80
};

// Values that `form` of a step has; and of `construction`.
inline constexpr std::uint8_t blocking = 0, nonblocking = 1, persistent = 2;
inline constexpr std::uint8_t buffered = 2;        // mode of a send
inline constexpr std::uint8_t exclusive_lock = 1;  // mode of a lock
inline constexpr std::uint8_t in_place = 4;        // of `free`: a collective's buffer was MPI_IN_PLACE
inline constexpr std::uint8_t by_dup = 0, by_split = 1, by_group = 3, by_merge = 7;
inline constexpr std::int32_t any_peer = -1;

// A list of a step, in its sequence's `lists`.
struct List {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
};

// An operation, or where a loop begins or ends. Peers are as the file has them: see Sequence::relative.
struct Step {
    Kind kind = Kind::end;
    std::uint8_t form = 0;
    std::uint8_t mode = 0;
    std::uint8_t type = 0;
    std::uint8_t reduction = 0;
    std::uint8_t free = 0;
    std::int32_t comm = 0;
    std::int32_t peer = 0;
    std::int32_t tag = 0;
    std::int32_t request = 0;
    std::int32_t extra = 0;
    std::uint32_t leaf = 0;  // which of the sequence's operations; of a loop the step at which it ends
    std::int64_t bytes = 0;  // of a loop: its turns
    List gives{};
    List takes{};  // of a sendrecv: what it receives
};

// What a sendrecv receives.
struct Received {
    std::int32_t source;  // a peer, or any_peer
    std::int32_t tag;
    std::int64_t bytes;
};

struct Sequence {
    std::vector<Step> steps{};  // ends with Kind::end
    std::vector<std::int64_t> lists{};
    std::uint32_t leaves = 0;
    bool files = false;         // there are calls of MPI's files
    bool relative = false;      // peers of messages are differences to the rank that executes
    std::int32_t requests = 0;  // the highest slot
    std::int32_t windows = 0;   // the highest number of a window
    std::int64_t largest = 0;   // bytes of any message, those of a list together
    std::int64_t executed = 0;  // operations, loops unfolded

    [[nodiscard]] std::span<const std::int64_t> list(const List& which) const {
        return std::span(lists).subspan(which.begin, which.size);
    }
    [[nodiscard]] Received received(const Step& sendrecv) const {
        const auto said = list(sendrecv.takes);
        return {static_cast<std::int32_t>(said[0]), static_cast<std::int32_t>(said[1]), said[2]};
    }
};

// Ranks of the world in the order of their ranks here.
struct Communicator {
    std::vector<std::int32_t> members{};
    std::uint8_t construction = 0;
    bool inter = false;  // of two groups: nothing can be sent through it
};

// Where each executed operation was entered and left, ns; mapped from the file beside the program.
class Times {
public:
    // Throws std::runtime_error with a sentence for a file that is not the program's.
    Times(const std::string& path, std::uint32_t program, const std::vector<std::int64_t>& counts);
    Times(const Times&) = delete;
    Times& operator=(const Times&) = delete;
    ~Times();
    // Pairs of a rank, one after another.
    [[nodiscard]] const std::int64_t* of(int rank) const { return starts_[static_cast<std::size_t>(rank)]; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<const std::int64_t*> starts_{};
};

struct Program {
    int ranks = 0;
    std::vector<Sequence> sequences{};
    std::vector<std::int32_t> rank_sequence{};
    std::vector<std::vector<double>> before{};  // tables: computation before each leaf, s
    std::vector<std::vector<double>> inside{};  // time in each leaf, s; empty where nothing needs it
    std::vector<std::int32_t> rank_before{};
    std::vector<double> memory{};  // B, of each rank alone; empty: not known, and 0 where it is not of one
    std::vector<Communicator> communicators{};
    std::unique_ptr<const Times> times{};  // where they are known
    std::uint32_t checksum = 0;
    bool recorded = false;  // it really ran so

    [[nodiscard]] const Sequence& of(int rank) const {
        return sequences[static_cast<std::size_t>(rank_sequence[static_cast<std::size_t>(rank)])];
    }
    [[nodiscard]] const std::vector<double>& computed(int rank) const {
        return before[static_cast<std::size_t>(rank_before[static_cast<std::size_t>(rank)])];
    }
    [[nodiscard]] const double* inside_of(int rank) const {
        return inside.empty()
                   ? nullptr
                   : inside[static_cast<std::size_t>(rank_before[static_cast<std::size_t>(rank)])].data();
    }
};

// The program of a file, with its times where they stand beside it. Throws std::runtime_error with a sentence
// for what is cut, damaged or of a newer version.
Program read(const std::string& path);

// One rank passes its number to the next, `turns` times: what there is to execute without a file.
Program ring(int ranks, std::int64_t bytes, std::int64_t turns);

// Writes when each operation of a program was entered and left, as the file beside it.
void write_times(const std::string& path, std::uint32_t program,
                 const std::vector<std::vector<std::int64_t>>& times);

}  // namespace leadline::program
