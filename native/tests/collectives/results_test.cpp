// Every algorithm gives every rank what serial arithmetic says: found by its having entered itself.
#include "playing.hpp"

namespace leadline::collectives {
namespace {

// What a rank brings to a block: no two alike, and no two sums of few.
Number brings(std::int32_t rank, std::int32_t block) {
    Number number = rank * 100003 + block * 7919 + 17;
    number = number * 2654435761 % 1000000007;
    return number;
}
Number sum_of(std::int32_t ranks, std::int32_t block) {
    Number sum = 0;
    for (std::int32_t rank = 0; rank < ranks; ++rank) sum += brings(rank, block);
    return sum;
}

struct Case {
    const Algorithm& algorithm;
    const AlgorithmArguments& asked;
    std::int32_t blocks;
};

// A rank's working memory before the first stage.
Memory before(const Case& of, std::int32_t rank) {
    const std::string& operation = of.algorithm.operation;
    const std::int32_t size = operation == "alltoall" ? 3 * of.blocks : of.blocks;
    Memory memory(static_cast<std::size_t>(size));
    for (std::int32_t block = 0; block < of.blocks; ++block) {
        const bool own = operation == "gather" || operation == "allgather" ? block == rank
                         : operation == "bcast" || operation == "scatter"  ? rank == of.asked.root
                                                                           : operation != "barrier";
        if (own) memory[static_cast<std::size_t>(block)] = brings(rank, block);
    }
    return memory;
}

// What must be in a block of a rank after the last stage; nothing: it does not matter.
std::optional<Number> after(const Case& of, std::int32_t rank, std::int32_t block) {
    const std::string& operation = of.algorithm.operation;
    const AlgorithmArguments& asked = of.asked;
    const bool root = rank == asked.root;
    if (operation == "bcast") return brings(asked.root, block);
    if (operation == "reduce" && root) return sum_of(asked.ranks, block);
    if (operation == "allreduce") return sum_of(asked.ranks, block);
    if (operation == "scan") return sum_of(rank + 1, block);
    if ((operation == "gather" && root) || operation == "allgather") return brings(block, block);
    if (operation == "scatter" && block == rank) return brings(asked.root, block);
    if (operation == "reduce_scatter" && block == rank) return sum_of(asked.ranks, block);
    if (operation == "alltoall" && block >= asked.ranks && block < 2 * asked.ranks)
        return brings(block - asked.ranks, rank);
    return {};
}

void check(const Algorithm& algorithm, const AlgorithmArguments& asked) {
    SCOPED_TRACE(spelt(algorithm, asked));
    const Case of{.algorithm = algorithm, .asked = asked, .blocks = blocks_of(algorithm, asked)};
    ASSERT_GE(of.blocks, 1);
    std::vector<Memory> memories;
    memories.reserve(static_cast<std::size_t>(asked.ranks));
    for (std::int32_t rank = 0; rank < asked.ranks; ++rank) memories.push_back(before(of, rank));
    for (const Stage& stage : algorithm.stages(asked)) {
        play(algorithm, asked, stage, memories);
        if (::testing::Test::HasFatalFailure()) return;
    }
    for (std::int32_t rank = 0; rank < asked.ranks; ++rank) {
        const Memory& memory = memories[static_cast<std::size_t>(rank)];
        for (std::size_t block = 0; block < memory.size(); ++block) {
            const auto expected = after(of, rank, static_cast<std::int32_t>(block));
            ASSERT_EQ(expected ? memory[block] : expected, expected)
                << "rank " << rank << ", block " << block;
        }
    }
}

TEST(Results, AreThoseOfSerialArithmetic) {
    ASSERT_GT(algorithms().size(), 30U);
    for (const Algorithm& algorithm : algorithms())
        for (const std::int32_t ranks : {1, 2, 3, 4, 5, 7, 8, 13, 16, 33})
            for (const std::int32_t root : std::set{0, 1 % ranks, ranks - 1})
                for (const std::int32_t per_node : {1, 2, 3, 4, 40})
                    for (const std::int64_t bytes : {0, 8, 720720, 4000000}) {
                        if (per_node > 1 && !algorithm.name.starts_with("hierarchical")) continue;
                        if (bytes != 8 && !algorithm.blocks) continue;  // all one to it
                        check(algorithm,
                              {.ranks = ranks, .root = root, .bytes = bytes, .per_node = per_node});
                        ASSERT_FALSE(HasFailure());
                    }
}

// Ranks along the axes and across them, on as many nodes along each as are told.
Lattice lattice_of(const std::vector<std::int32_t>& axes, std::int32_t cores, bool nodes_first) {
    std::int32_t nodes = 1;
    for (const std::int32_t length : axes) nodes *= length;
    std::vector<std::int32_t> places;
    places.reserve(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(cores));
    for (std::int32_t rank = 0; rank < nodes * cores; ++rank)
        places.push_back(nodes_first ? rank % nodes * cores + rank / nodes : rank);
    return {axes, cores, std::move(places)};
}

TEST(Results, AreThoseOfSerialArithmeticOnAGridOfNodes) {
    const std::vector<std::vector<std::int32_t>> grids{{1}, {5}, {4, 2}, {3, 1, 4}};
    int tried = 0;
    for (const Algorithm& algorithm : algorithms())
        for (const auto& axes : grids)
            for (const std::int32_t cores : {1, 2, 3, 4})
                for (const bool nodes_first : {false, true}) {
                    if (!algorithm.by_axes) continue;
                    const Lattice lattice = lattice_of(axes, cores, nodes_first);
                    std::int32_t ranks = cores;
                    for (const std::int32_t length : axes) ranks *= length;
                    const AlgorithmArguments asked{.ranks = ranks, .bytes = 8, .lattice = &lattice};
                    check(algorithm, asked);
                    ASSERT_FALSE(HasFailure());
                    std::int64_t sent = 0;
                    for (const Stage& stage : algorithm.stages(asked)) {
                        std::int64_t counted = 0;
                        each_message(stage, ranks, [&](std::int32_t, std::int32_t) { ++counted; });
                        EXPECT_EQ(messages(stage, ranks), counted);
                        sent += counted;
                    }
                    EXPECT_EQ(sent, std::int64_t{ranks} * (ranks - 1));
                    ++tried;
                }
    EXPECT_GE(tried, 32);
}

// A barrier moves nothing: nobody leaves before word of everybody has come to it.
TEST(Results, NobodyLeavesABarrierEarly) {
    for (const Algorithm& algorithm : algorithms())
        for (const std::int32_t ranks : {1, 2, 3, 5, 8, 13, 64})
            for (const std::int32_t per_node : {1, 3, 4}) {
                if (algorithm.operation != "barrier") continue;
                const AlgorithmArguments asked{.ranks = ranks, .per_node = per_node};
                std::vector<std::set<std::int32_t>> heard(static_cast<std::size_t>(ranks));
                for (std::int32_t r = 0; r < ranks; ++r) heard[static_cast<std::size_t>(r)].insert(r);
                for (const Stage& stage : algorithm.stages(asked)) {
                    const auto earlier = heard;
                    each_message(stage, ranks, [&](std::int32_t from, std::int32_t to) {
                        const auto& word = earlier[static_cast<std::size_t>(from)];
                        heard[static_cast<std::size_t>(to)].insert(word.begin(), word.end());
                    });
                }
                for (const auto& each : heard)
                    EXPECT_EQ(each.size(), static_cast<std::size_t>(ranks)) << spelt(algorithm, asked);
            }
}

TEST(Results, EveryLibraryHasAnAlgorithmForEveryOperation) {
    for (const char* operation : {"barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather",
                                  "alltoall", "reduce_scatter", "scan"})
        for (const std::int32_t ranks : {1, 2, 7, 64, 1000, 131'071, 131'072})
            for (const std::int64_t bytes : {0, 8, 4096, 1 << 20})
                for (const std::int32_t per_node : {1, 4})
                    for (const Library& library : libraries()) {
                        const AlgorithmArguments asked{
                            .ranks = ranks, .root = 0, .bytes = bytes, .per_node = per_node};
                        EXPECT_NE(find(operation, library.takes(operation, asked)), nullptr)
                            << library.name << ' ' << operation << ' ' << ranks << ' ' << bytes;
                    }
    for (const Library& library : libraries())
        EXPECT_TRUE(library.takes("neighbor_alltoall", {.ranks = 8, .bytes = 8}).empty()) << library.name;
    EXPECT_EQ(find("bcast", "telepathy"), nullptr);
}

}  // namespace
}  // namespace leadline::collectives
