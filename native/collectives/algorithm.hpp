// How a collective is done by messages: an algorithm is a list of stages, each a set of messages that no rank
// needs anything for but what the stages before gave it. One file an algorithm, which enters itself.
//
// The same list is done rank by rank on a real MPI (harness/perform.hpp) and on a simulated machine, where it
// may also be computed at once, over arrays of clocks. The first needs no more than who tells whom and how
// much; what the messages hold is told on demand, as numbers of blocks of a working memory that every rank
// has:
//
//   barrier                          none; messages are empty
//   bcast, reduce, allreduce, scan   the message in as many equal parts as Algorithm::blocks says
//   gather, scatter, allgather       a block for each rank, in order
//   reduce_scatter                   a block for each rank: its own ends as the result
//   alltoall                         what a rank gives to each, then what it takes of each, then as much
//                                    memory for the algorithm's own use
//
// Before the first stage a rank's working memory has what the rank brings (gather and allgather: in its own
// block); after the last it has the result, in the root or in everyone.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/lattice.hpp"

namespace leadline::collectives {

// Beyond the last rank it goes on with the first; below the first with the last.
constexpr std::int32_t modulo(std::int64_t number, std::int32_t ranks) {
    const std::int64_t rest = number < 0 || number >= ranks ? number % ranks : number;
    return static_cast<std::int32_t>(rest < 0 ? rest + ranks : rest);
}

// `count` messages in a row: the first is from `from` to `to`, each further one `from_step` and `to_step`
// ranks on. Numbers go round modulo the ranks.
struct Row {
    std::int32_t from;
    std::int32_t to;
    std::int32_t count = 1;
    std::int32_t from_step = 1;
    std::int32_t to_step = 1;
};

using Blocks = std::vector<std::int32_t>;

// One stage: at most one message from and one to each rank. Its receiver then combines as many bytes as came.
struct Stage {
    enum class Pattern {
        exchange,  // of `ranks` ranks, `step` apart from `first` on, the i-th with the (i xor `by`)-th, both
                   // ways
        shift,     // rank r to rank (r + by) modulo the ranks, or by the shift of `along`, all at once
        listed,    // `rows`; they may be few where ranks are many, and stages many then
        local,     // no messages: every rank copies `bytes` of its own
    };
    Pattern pattern = Pattern::listed;
    std::int32_t by = 0;
    std::int32_t ranks = 0;
    std::int32_t first = 0;
    std::int32_t step = 1;
    const Lattice* along = nullptr;
    std::int64_t bytes = 0;  // of a message; of the largest where `holds` tells them apart
    bool combines = false;
    std::vector<Row> rows{};
    // The blocks that the message from this rank holds, in their order; none of it: it is empty.
    std::function<Blocks(std::int32_t from)> carries{};
    // How many blocks these are, where the ranks do not divide evenly; none of it: all messages are alike.
    std::function<std::int32_t(std::int32_t from)> holds{};
    // Where they go at this receiver; none of it: into blocks of the same numbers. A rank that copies to
    // itself reads all before it writes any.
    std::function<Blocks(std::int32_t to)> lands{};
};

// What an algorithm is asked for. `bytes` are those of the message, or of one rank's block (of the largest
// where they vary). Ranks of a node follow one another, `per_node` on each but perhaps the last.
struct AlgorithmArguments {
    std::int32_t ranks = 1;
    std::int32_t root = 0;
    std::int64_t bytes = 0;
    std::int32_t per_node = 1;
    const Lattice* lattice = nullptr;  // on which they sit, for who goes by it; null: on none
    bool in_place = false;             // each rank's own block of an alltoall is where it will be
    bool operator==(const AlgorithmArguments&) const = default;
};

struct Algorithm {
    std::string operation;  // by MPI's name: barrier, bcast, reduce_scatter
    std::string name;
    std::vector<Stage> (*stages)(const AlgorithmArguments& asked);
    // Into how many equal parts it cuts a message; null: one.
    std::int32_t (*blocks)(const AlgorithmArguments& asked) = nullptr;
    bool by_axes = false;  // whether it goes by the lattice
};

const Algorithm* find(std::string_view operation, std::string_view name);  // null: there is none
const std::vector<Algorithm>& algorithms();                                // by operation and name

// What a library takes where nobody says which: the name of an algorithm; nothing for an operation that it
// has no algorithm for. One file a library, which enters itself.
struct Library {
    std::string name;
    std::string_view (*takes)(std::string_view operation, const AlgorithmArguments& asked);
};

const Library* find_library(std::string_view name);  // null: there is none
const std::vector<Library>& libraries();             // by name

// What is taken where no library is said: for few bytes the algorithm of fewest stages, for many the one that
// moves least.
std::string_view usual(std::string_view operation, const AlgorithmArguments& asked);

// How many messages a stage is, of all ranks together.
inline std::int64_t messages(const Stage& stage, std::int32_t ranks) {
    std::int64_t all = 0;
    if (stage.pattern == Stage::Pattern::exchange) all += stage.ranks;
    if (stage.pattern == Stage::Pattern::shift)
        all += ranks - (stage.along ? stage.along->resting(stage.by) : 0);
    for (const Row& row : stage.rows) all += row.count;
    return all;
}

// To whom a rank sends in a shift, and from whom it receives.
struct Shift {
    const Lattice* along;
    std::int32_t ranks;
    std::int32_t by;
    [[nodiscard]] std::int32_t to(std::int32_t rank) const {
        return along ? along->receiver(rank, by) : modulo(static_cast<std::int64_t>(rank) + by, ranks);
    }
    [[nodiscard]] std::int32_t from(std::int32_t rank) const {
        return along ? along->sender(rank, by) : modulo(static_cast<std::int64_t>(rank) - by, ranks);
    }
};

// Calls each(from, to) for every message of a stage.
template <class Each>
void each_message(const Stage& stage, std::int32_t ranks, Each each) {
    switch (stage.pattern) {
        case Stage::Pattern::exchange: {
            const auto rank = [&](std::int64_t i) { return modulo(stage.first + i * stage.step, ranks); };
            for (std::int32_t i = 0; i < stage.ranks; ++i) each(rank(i ^ stage.by), rank(i));
            break;
        }
        case Stage::Pattern::shift: {
            const Shift shift{stage.along, ranks, stage.by};
            for (std::int32_t r = 0; r < ranks; ++r)
                if (const std::int32_t from = shift.from(r); from != r || !stage.along) each(from, r);
            break;
        }
        case Stage::Pattern::listed:
            for (const Row& row : stage.rows)
                for (std::int64_t i = 0; i < row.count; ++i)
                    each(modulo(row.from + i * row.from_step, ranks),
                         modulo(row.to + i * row.to_step, ranks));
            break;
        case Stage::Pattern::local: break;
    }
}

class Entered {
public:
    explicit Entered(Algorithm algorithm);
    explicit Entered(Library library);
};

}  // namespace leadline::collectives
