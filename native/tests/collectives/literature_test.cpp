// Stages and bytes of the well-known algorithms are those that their papers count.
#include <bit>

#include "playing.hpp"

namespace leadline::collectives {
namespace {

// What the busiest rank sends.
struct Sent {
    std::int64_t stages = 0;  // that have messages
    std::int64_t bytes = 0;
};

Sent sent(const std::string& operation, const std::string& name, const AlgorithmArguments& asked) {
    const Algorithm* algorithm = find(operation, name);
    EXPECT_NE(algorithm, nullptr) << operation << ' ' << name;
    Sent all;
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(asked.ranks));
    for (const Stage& stage : algorithm->stages(asked)) {
        if (stage.pattern == Stage::Pattern::local) continue;
        ++all.stages;
        each_message(stage, asked.ranks, [&](std::int32_t from, std::int32_t) {
            bytes[static_cast<std::size_t>(from)] += stage.bytes;
        });
    }
    all.bytes = *std::ranges::max_element(bytes);
    return all;
}

void expect(const std::string& operation, const std::string& name, const AlgorithmArguments& asked,
            Sent expected) {
    SCOPED_TRACE(operation + ' ' + name + " of " + std::to_string(asked.ranks));
    const Sent found = sent(operation, name, asked);
    EXPECT_EQ(found.stages, expected.stages);
    EXPECT_EQ(found.bytes, expected.bytes);
}

// Thakur, Rabenseifner and Gropp, 2005, and the papers that the files name; p ranks, n bytes, lg p stages.
TEST(Literature, CountsForPowersOfTwo) {
    for (const std::int64_t p : {2, 8, 64}) {
        const std::int64_t lg = std::bit_width(static_cast<unsigned>(p)) - 1;
        const std::int64_t n = 1 << 20;
        const AlgorithmArguments of{.ranks = static_cast<std::int32_t>(p), .bytes = n};
        const AlgorithmArguments shorter{.ranks = of.ranks, .bytes = n / 4};
        expect("barrier", "dissemination", of, {lg, 0});
        expect("barrier", "recursive-doubling", of, {lg, 0});
        expect("bcast", "linear", of, {p - 1, (p - 1) * n});
        expect("bcast", "binomial", of, {lg, lg * n});
        expect("bcast", "scatter-allgather", shorter, {2 * lg, 2 * (p - 1) * (n / 4) / p});
        expect("bcast", "scatter-allgather", of, {lg + p - 1, 2 * (p - 1) * n / p});
        expect("bcast", "chain", of, {p + 64 - 2, n});
        expect("reduce", "binomial", of, {lg, n});
        expect("reduce", "rabenseifner", of, {2 * lg, (p - 1) * n / p + n / p * (p / 2)});
        expect("allreduce", "recursive-doubling", of, {lg, lg * n});
        expect("allreduce", "rabenseifner", of, {2 * lg, 2 * (p - 1) * n / p});
        expect("allreduce", "ring", of, {2 * (p - 1), 2 * (p - 1) * n / p});
        expect("gather", "binomial", of, {lg, p / 2 * n});
        expect("scatter", "binomial", of, {lg, (p - 1) * n});
        expect("allgather", "ring", of, {p - 1, (p - 1) * n});
        expect("allgather", "neighbor-exchange", of, {p / 2, (p - 1) * n});
        expect("allgather", "recursive-doubling", of, {lg, (p - 1) * n});
        expect("allgather", "bruck", of, {lg, (p - 1) * n});
        expect("alltoall", "pairwise", of, {p - 1, (p - 1) * n});
        expect("alltoall", "bruck", of, {lg, lg * n * p / 2});
        expect("reduce_scatter", "recursive-halving", of, {lg, (p - 1) * n});
        expect("reduce_scatter", "pairwise", of, {p - 1, (p - 1) * n});
        expect("scan", "recursive-doubling", of, {lg, lg * n});
    }
}

TEST(Literature, CountsForOtherRanks) {
    constexpr std::int64_t n = 16'016;  // a multiple of 7, 11 and 13
    for (const std::int32_t p : {3, 7, 11, 13}) {
        const std::int64_t below = std::bit_width(static_cast<unsigned>(p)) - 1;  // lg p, down
        const std::int64_t above = below + 1;
        const AlgorithmArguments of{.ranks = p, .bytes = n};
        EXPECT_EQ(sent("barrier", "dissemination", of).stages, above);
        EXPECT_EQ(sent("bcast", "binomial", of).stages, above);
        EXPECT_EQ(sent("allgather", "bruck", of).stages, above);
        EXPECT_EQ(sent("allgather", "bruck", of).bytes, (p - 1) * n);
        EXPECT_EQ(sent("allreduce", "recursive-doubling", of).stages, below + 2);
        EXPECT_EQ(sent("allreduce", "rabenseifner", of).stages, 2 * below + 2);
        EXPECT_EQ(sent("alltoall", "bruck", of).stages, above);
        EXPECT_EQ(sent("alltoall", "pairwise", of).bytes, (p - 1) * n);
    }
}

// A message over a node's edge in a broadcast: one for each other node.
TEST(Literature, AHierarchyLeavesNodesAsSeldomAsCanBe) {
    for (const std::int32_t root : {0, 5, 30}) {
        const AlgorithmArguments asked{.ranks = 31, .root = root, .bytes = 64, .per_node = 4};
        std::int64_t across = 0;
        for (const Stage& stage : find("bcast", "hierarchical")->stages(asked))
            each_message(stage, asked.ranks,
                         [&](std::int32_t from, std::int32_t to) { across += from / 4 != to / 4 ? 1 : 0; });
        EXPECT_EQ(across, 7);
    }
}

// What a machine of very many ranks is asked: nothing is listed rank by rank, and what is taken of short
// messages where nobody says which has few stages. Messages are of no bytes here: an allgather of one each is
// long with so many ranks, and MPICH takes a ring unless they are a power of two.
TEST(Literature, StagesOfVeryManyRanksAreFewRows) {
    for (const Algorithm& algorithm : algorithms())
        for (const std::int32_t ranks : {8191, 8192, 131'071, 131'072}) {
            AlgorithmArguments asked{.ranks = ranks, .root = 5, .bytes = 0, .per_node = 4};
            const bool taken = algorithm.name == usual(algorithm.operation, asked);
            if (!taken) asked.bytes = 1 << 20;
            if (!taken && ranks > 10'000) continue;
            const auto stages = algorithm.stages(asked);
            std::size_t rows = 0;
            for (const Stage& stage : stages) rows = std::max(rows, stage.rows.size());
            EXPECT_LE(rows, 32U) << spelt(algorithm, asked);
            EXPECT_LT(stages.size(), taken ? 40U : 20'000U) << spelt(algorithm, asked);
        }
}

// Where no library is said there is no number of ranks from which on all is different.
TEST(Literature, NoNumberOfRanksTurnsLongMessagesIntoShortOnes) {
    for (const std::string operation : {"alltoall", "allgather", "reduce_scatter"})
        for (const std::int32_t ranks : {64, 4096, 4097, 8192, 131'072})
            EXPECT_EQ(usual(operation, {.ranks = ranks, .bytes = 8192}),
                      usual(operation, {.ranks = 64, .bytes = 8192}))
                << operation << ' ' << ranks;
}

// What their sources say (the files that name them), at both sides of some of their bounds.
TEST(Literature, LibrariesTakeWhatTheirSourcesSay) {
    struct Known {
        const char* library;
        const char* operation;
        AlgorithmArguments asked;
        const char* algorithm;
    };
    const std::vector<Known> all{
        {"mpich-3", "allgather", {.ranks = 7, .bytes = 11'702}, "bruck"},
        {"mpich-3", "allgather", {.ranks = 7, .bytes = 11'703}, "ring"},
        {"mpich-3", "allgather", {.ranks = 8, .bytes = 65'535}, "recursive-doubling"},
        {"mpich-3", "allgather", {.ranks = 8, .bytes = 65'536}, "ring"},
        {"mpich-3", "alltoall", {.ranks = 8, .bytes = 256}, "bruck"},
        {"mpich-3", "alltoall", {.ranks = 8, .bytes = 257}, "linear"},
        {"mpich-3", "alltoall", {.ranks = 7, .bytes = 256}, "linear"},
        {"mpich-3", "alltoall", {.ranks = 8, .bytes = 32'768}, "linear"},
        {"mpich-3", "alltoall", {.ranks = 8, .bytes = 32'769}, "pairwise"},
        {"mpich-3", "allreduce", {.ranks = 64, .bytes = 2048}, "recursive-doubling"},
        {"mpich-3", "allreduce", {.ranks = 64, .bytes = 2056}, "rabenseifner"},
        {"mpich-3", "allreduce", {.ranks = 1000, .bytes = 4088}, "recursive-doubling"},
        {"mpich-3", "allreduce", {.ranks = 1000, .bytes = 4096}, "rabenseifner"},
        {"mpich-3", "reduce", {.ranks = 64, .bytes = 2048}, "binomial"},
        {"mpich-3", "reduce", {.ranks = 64, .bytes = 2056}, "rabenseifner"},
        {"mpich-3", "reduce", {.ranks = 1000, .bytes = 4088}, "binomial"},
        {"mpich-3", "reduce", {.ranks = 1000, .bytes = 4096}, "rabenseifner"},
        {"mpich-4", "allreduce", {.ranks = 2, .bytes = 8, .per_node = 2}, "recursive-doubling"},
        {"mpich-4", "allreduce", {.ranks = 2, .bytes = 16, .per_node = 2}, "rabenseifner"},
        {"mpich-4", "allreduce", {.ranks = 64, .bytes = 256}, "recursive-doubling"},
        {"mpich-4", "allreduce", {.ranks = 64, .bytes = 512}, "rabenseifner"},
        {"mpich-4", "allreduce", {.ranks = 64, .bytes = 32768, .per_node = 8}, "hierarchical"},
        {"mpich-4", "allreduce", {.ranks = 64, .bytes = 32776, .per_node = 8}, "rabenseifner"},
        {"mpich-4", "barrier", {.ranks = 8, .per_node = 8}, "hierarchical-dissemination"},
        {"mpich-4", "barrier", {.ranks = 8}, "dissemination"},
        {"mpich-4", "alltoall", {.ranks = 8, .bytes = 256}, "bruck"},
        {"mpich-4", "alltoall", {.ranks = 7, .bytes = 256}, "linear"},
        {"openmpi-4", "allreduce", {.ranks = 4096, .bytes = 2047}, "binomial"},
        {"openmpi-4", "allreduce", {.ranks = 4096, .bytes = 2048}, "recursive-doubling"},
        {"openmpi-4", "allreduce", {.ranks = 64, .bytes = 262143}, "recursive-doubling"},
        {"openmpi-4", "allreduce", {.ranks = 64, .bytes = 262144}, "rabenseifner"},
        {"openmpi-4", "barrier", {.ranks = 7}, "linear"},
        {"openmpi-4", "barrier", {.ranks = 8}, "recursive-doubling"},
        {"openmpi-4", "bcast", {.ranks = 2048, .bytes = 262143}, "binomial"},
        {"openmpi-4", "bcast", {.ranks = 2048, .bytes = 262144}, "scatter-allgather"},
        {"openmpi-4", "allgather", {.ranks = 33, .bytes = 8}, "bruck"},
        {"openmpi-4", "allgather", {.ranks = 33, .bytes = 2048}, "ring"},
        {"openmpi-4", "allgather", {.ranks = 34, .bytes = 2048}, "neighbor-exchange"}};
    for (const Known& each : all)
        EXPECT_EQ(find_library(each.library)->takes(each.operation, each.asked), each.algorithm)
            << each.library << ' ' << each.operation << ' ' << each.asked.ranks << ' ' << each.asked.bytes;
}

}  // namespace
}  // namespace leadline::collectives
