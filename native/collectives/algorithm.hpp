// How a collective is done by messages: an algorithm is a list of stages, each a set of messages that no rank
// needs anything for but what the stages before gave it. One file an algorithm, which enters itself.
//
// The same list is computed at once for a simulated machine, over arrays of clocks, and can be said rank by
// rank to a real MPI.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace leadline::collectives {

struct Message {
    std::int32_t from;
    std::int32_t to;
};

// One stage. Every message of it has the same size; its receiver then combines as many bytes.
struct Stage {
    enum class Pattern {
        exchange,  // rank r with rank r xor `by`, both ways, below `ranks`
        shift,     // rank r to rank (r + by) modulo the ranks, all at once
        listed,    // `messages`, at most one from and one to each rank
    };
    Pattern pattern = Pattern::listed;
    std::int32_t by = 0;
    std::int32_t ranks = 0;  // that an exchange takes in: the first so many
    std::int64_t bytes = 0;
    bool combines = false;
    std::vector<Message> messages{};
};

struct Algorithm {
    std::string operation;  // barrier, bcast, allreduce
    std::string name;
    std::vector<Stage> (*stages)(int ranks, int root, std::int64_t bytes);
};

const Algorithm* find(std::string_view operation, std::string_view name);  // null: there is none
const std::vector<Algorithm>& algorithms();                                // by operation and name

class Entered {
public:
    explicit Entered(Algorithm algorithm);
};

}  // namespace leadline::collectives
