// A rank that executes a recorded program, on any backend.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/comm.hpp"
#include "comm/task.hpp"
#include "harness/run.hpp"
#include "program/file.hpp"
#include "program/left.hpp"

namespace leadline::program {

// Of messages that are not the program's, among neighbours and for epochs of windows; below every MPI's
// bound.
inline constexpr int neighbours_tag = 32000, window_tag = 32100;

// Which operation of all ranks it is; none where it is no such.
std::optional<Collective> collective_of(Kind kind);

// By which algorithm collectives are done, on a described machine: "library", or such as
// "allreduce=ring,bcast=binomial".
std::map<Kind, std::string> algorithms(const std::string& words);

// Why a program cannot be executed by so many ranks, a sentence; empty where it can.
std::string refusal(const Program& program, int ranks);

// How the program is executed.
struct Playing {
    double compute = 1;  // factor of the computation between operations
    std::map<Kind, std::string> algorithms{};
};

class Player {
public:
    Player(Run& run, const Program& program, const Playing& playing);

    // Makes the communicators that the program uses. Collective.
    Task<> prepare();
    // Executes the program once; where `times` is there, when each operation was entered and left goes there,
    // ns from `now() == 0`.
    Task<> play(std::vector<std::int64_t>* times);
    // Once all ranks have executed it: takes in what a recording left behind, so that nothing of it is there
    // when the program is executed again or ends. Its time is none of the program's. Collective.
    Task<> clear();
    [[nodiscard]] double computed() const { return computed_; }  // s, of the last execution

private:
    static constexpr std::size_t most_buffered = 4096;
    // A collective and its blocks. Among neighbours each block is a message, and nothing is prepared.
    struct Meeting {
        std::optional<Comm::Prepared> prepared{};
        std::vector<Part> gives{};
        std::vector<Part> takes{};
        std::vector<Comm::Request> blocks{};  // that are under way
    };
    // What a nonblocking or persistent operation keeps until it is over. Small: most are messages, and a
    // program with many ranks waits for memory.
    struct Slot {
        Comm::Request request{};
        bool message = false;  // one is under way
        const Step* made_ready = nullptr;
        std::unique_ptr<Meeting> meeting{};
        [[nodiscard]] bool collective() const { return meeting && meeting->prepared; }
        void hand_over_blocks(std::vector<Comm::Request>& to) const {
            if (!meeting) return;
            to.insert(to.end(), meeting->blocks.begin(), meeting->blocks.end());
            meeting->blocks.clear();
        }
    };
    struct Loop {
        std::size_t begin;
        std::int64_t left;
    };
    // Messages of which nobody receives the last ones.
    struct Leaving : LeftMessages {
        // NOLINTNEXTLINE(*-explicit-*): a copy with a count
        Leaving(const LeftMessages& all) : LeftMessages(all) {}
        std::int64_t sent = 0;
    };
    struct Own {
        std::int32_t number;
        Comm comm;
    };
    struct Exposed {
        std::optional<Comm::Window> window{};
        std::int32_t comm = 0;
        int tag = 0;                 // of its epochs' messages; the next is that of their ends
        std::vector<int> reached{};  // targets since the last synchronisation
        std::vector<std::pair<int, bool>> locked{};  // targets (any_peer: all), and whether exclusively
        bool posted = false;                         // ranks are let in, until they have completed
        bool started = false;
        [[nodiscard]] auto lock_of(int target) {
            return std::ranges::find(locked, target, &std::pair<int, bool>::first);
        }
    };

    [[nodiscard]] double before(const Step& step, std::size_t index) const;
    [[nodiscard]] double inside(const Step& step, std::size_t index) const;
    Task<> compute(double seconds);
    [[nodiscard]] int place(const Step& step, std::int32_t peer);
    Comm& numbered(std::int32_t comm);
    Comm& comm(const Step& step) { return numbered(step.comm); }
    [[nodiscard]] Bytes out(std::int64_t bytes) const { return out_.first(static_cast<std::size_t>(bytes)); }
    [[nodiscard]] Bytes in(std::int64_t bytes) const { return in_.first(static_cast<std::size_t>(bytes)); }
    [[nodiscard]] bool leaves(const Step& send);
    void begin_message(const Step& step, Slot& slot);
    Task<> oldest();
    Call call(const Step& step, std::vector<Part>& gives, std::vector<Part>& takes);
    void lay_out(Call& made, const Step& step, std::int64_t bytes, std::vector<Part>& gives,
                 std::vector<Part>& takes);
    Task<> collective(const Step& step);
    [[nodiscard]] static bool among_neighbours(const Step& step) {
        return step.kind == Kind::neighbor_allgather || step.kind == Kind::neighbor_alltoall;
    }
    Task<> neighbours(const Step& step);
    Task<> begin_blocks(const Step& step, std::vector<Comm::Request>& begun);
    Task<> one_sided(const Step& step);
    Task<> make_window(const Step& step, Exposed& exposed);
    Task<> epoch(const Step& step, Exposed& exposed, Comm& among);
    Task<> flush(Exposed& exposed, int target);
    [[noreturn]] void wrong(const char* does) const;
    Task<> unlock(Exposed& exposed, int target);
    bool take_requests(const Step& wait);
    Task<> end_collectives(const Step& wait);
    Task<> start(const Step& step);
    Task<> made(const Step& step);

    Run& run_;
    const Program& program_;
    const Playing& playing_;
    const Left& left_behind_;
    const Sequence& sequence_;
    const double* before_;          // s of computation before each of the sequence's operations
    const double* inside_;          // s in each; null where nobody needs it
    const double memory_;           // B, of its own
    const std::int64_t* recorded_;  // times of the recording; null where they are not known
    Bytes out_{};
    Bytes in_{};
    Comm& world_;
    std::vector<Own> comms_;  // of which it is a member, but the world
    std::vector<Slot> slots_;
    std::vector<Exposed> windows_;
    std::map<std::int32_t, int> windows_made_;  // on each communicator
    Meeting blocking_;
    std::vector<Comm::Request> waited_;
    std::vector<Comm::Request> forgotten_;  // that nobody waits for: freed, or sent from a buffer
    std::vector<Leaving> leaving_;
    std::vector<Comm::Request> left_;  // of them those under way
    std::vector<Loop> loops_;
    double computed_ = 0;
};

}  // namespace leadline::program
