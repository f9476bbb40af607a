// That the ranks of a communicator call the same things in the same order with the same arguments, as MPI
// demands. Looked at where calls enter, whatever then serves them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/vocabulary.hpp"

namespace leadline::sim {

struct Group;

// Two ranks of a communicator called what does not match: a different operation, root, size, type or
// algorithm.
struct Mismatch : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What must be equal in the calls of all ranks.
struct Signature {
    std::string_view what;
    Form form = Form::blocking;
    bool reduces = false;
    bool layouts = false;         // blocks vary, and every rank, or the root, says how
    bool periodic = false;        // of a grid
    Type type = Type::float64;    // of what is reduced
    Reduce reduce = Reduce::sum;  // and how
    std::int32_t root = -1;       // where there is one
    std::int64_t bytes = -1;  // of the message or of one rank's block; less than nothing: ranks may differ
    std::string_view algorithm{};    // that was asked for
    std::span<const int> lengths{};  // of a grid; the caller's, who waits for all others
};
Signature signature_of(const Call& call, Form form);

class CallOrder {
public:
    // A rank makes its next call, a collective. Throws Mismatch as below.
    void enter(const Group& group, int rank, const Call& call, Form form);
    // A rank makes its next call. Blocks of a gather or scatter may be laid out at the root only: `blocks`;
    // those of an allgather or reduce_scatter are the same from every rank.
    // Throws Mismatch, naming this rank, another one and what both called.
    void enter(const Group& group, int rank, const Signature& call, Layout blocks = {});

private:
    // All of a call that most ranks give alike: where it is the first one's there is nothing more to compare.
    struct Plain {
        const char* algorithm = nullptr;
        std::size_t length = 0;  // of its name
        std::size_t out = 0;
        std::size_t in = 0;
        std::int32_t root = 0;
        Collective what = Collective::barrier;
        Form form = Form::blocking;
        Type type = Type::float64;
        Reduce reduce = Reduce::sum;
        bool plain = false;  // has no layouts
        bool varies = false;
        [[nodiscard]] bool is(const Call& call, Form of) const;
    };
    // A call that some ranks have made and others not yet.
    struct Open {
        Signature call{};
        Plain plain{};
        std::int32_t rank = 0;  // the first that made it
        std::int32_t come = 0;
        std::vector<Part> blocks{};  // as the root or the first has them, which may go on before others come
        std::vector<std::pair<std::int32_t, std::int64_t>> others{};  // ranks whose blocks have another size
    };
    void compare(const Group& group, int rank, const Call& call, Form form);
    void count(const Group& group, Open& open);
    static void check_blocks(const Group& group, Open& open);

    std::deque<Open> open_{};
    Open* first_ = nullptr;              // of them, which most ranks make next
    std::uint32_t done_ = 0;             // calls that all ranks have made; both numbers may wrap together
    std::vector<std::uint32_t> made_{};  // by each rank
};

}  // namespace leadline::sim
