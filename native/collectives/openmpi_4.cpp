// Library openmpi-4: what Open MPI 4.1 and 5 take by themselves, the fixed decisions of their component
// "tuned" (ompi/mca/coll/tuned/coll_tuned_decision_fixed.c of their sources), for operations that commute.
//
// Trees of any shape that go without segments are binomial here (knomial, binary, split binary, in order,
// chain), the two rings one, the butterfly is halving; linear ways that wait for their neighbours are linear.
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "collectives/pieces.hpp"

namespace leadline::collectives {
namespace {

constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

// Below so many ranks and so many bytes.
struct Choice {
    std::int64_t ranks;
    std::int64_t bytes;
    std::string_view algorithm;
};

constexpr std::string_view tree = "binomial", line = "linear", doubles = "recursive-doubling", ring = "ring",
                           halves = "rabenseifner", pairs = "pairwise", bruck = "bruck",
                           neighbors = "neighbor-exchange", scatters = "scatter-allgather",
                           halving = "recursive-halving", spreads = "dissemination";

constexpr auto barrier = std::to_array<Choice>({{4, any, doubles},
                                                {8, any, line},
                                                {64, any, doubles},
                                                {256, any, spreads},
                                                {512, any, tree},
                                                {1024, any, spreads},
                                                {4096, any, tree},
                                                {any, any, spreads}});
constexpr auto bcast = std::to_array<Choice>(
    {{4, 1 << 10, tree},    {4, 1 << 15, line},    {4, 1 << 18, tree},   {4, 1 << 19, line},
     {4, any, tree},        {8, 1 << 13, tree},    {8, 1 << 20, line},   {8, any, tree},
     {16, 1 << 15, tree},   {16, any, line},       {32, 1 << 20, tree},  {32, any, scatters},
     {128, any, tree},      {256, 1 << 14, tree},  {256, 1 << 15, line}, {1024, any, tree},
     {2048, 1 << 19, tree}, {2048, any, scatters}, {any, 1 << 18, tree}, {any, any, scatters}});
constexpr auto reduce = std::to_array<Choice>({{4, 8, halves},
                                               {4, 32, tree},
                                               {4, 1 << 18, line},
                                               {4, any, tree},
                                               {8, 1 << 18, tree},
                                               {8, 1 << 19, line},
                                               {8, 1 << 20, tree},
                                               {8, any, line},
                                               {any, any, tree}});
constexpr auto allreduce = std::to_array<Choice>({{4, 8, ring},
                                                  {4, 1 << 12, doubles},
                                                  {4, 1 << 13, ring},
                                                  {4, 1 << 14, doubles},
                                                  {4, 1 << 18, ring},
                                                  {4, any, halves},
                                                  {8, 16, ring},
                                                  {8, 1 << 13, doubles},
                                                  {8, any, halves},
                                                  {16, 1 << 13, doubles},
                                                  {16, any, halves},
                                                  {32, 64, ring},
                                                  {32, 1 << 12, doubles},
                                                  {32, any, halves},
                                                  {64, 128, ring},
                                                  {64, any, halves},
                                                  {128, 1 << 18, doubles},
                                                  {128, any, halves},
                                                  {256, 1 << 17, tree},
                                                  {256, 1 << 18, doubles},
                                                  {256, any, halves},
                                                  {512, 1 << 12, tree},
                                                  {512, any, halves},
                                                  {2048, 1 << 11, tree},
                                                  {2048, 1 << 14, doubles},
                                                  {2048, any, halves},
                                                  {4096, 1 << 11, tree},
                                                  {4096, 1 << 12, ring},
                                                  {4096, 1 << 14, doubles},
                                                  {4096, any, halves},
                                                  {any, 1 << 11, tree},
                                                  {any, 1 << 14, ring},
                                                  {any, 1 << 15, doubles},
                                                  {any, any, halves}});
constexpr auto alltoall = std::to_array<Choice>(
    {{3, any, pairs},    {8, 1 << 19, line},     {8, 1 << 20, pairs},   {8, any, line},
     {16, any, line},    {32, 4, line},          {32, 512, bruck},      {32, any, line},
     {64, 512, bruck},   {64, any, line},        {256, 1 << 10, bruck}, {256, 1 << 18, line},
     {256, any, pairs},  {512, 1 << 10, bruck},  {512, 1 << 15, line},  {512, any, pairs},
     {1024, 512, bruck}, {1024, 1 << 18, line},  {1024, any, pairs},    {2048, 512, bruck},
     {2048, any, line},  {4096, 1 << 10, bruck}, {4096, any, line},     {any, 1 << 11, bruck},
     {any, any, line}});
constexpr auto allgather =
    std::to_array<Choice>({{32, any, doubles},        {64, 1 << 10, doubles},    {64, 1 << 16, neighbors},
                           {64, any, ring},           {128, 512, doubles},       {128, 1 << 16, neighbors},
                           {128, any, ring},          {256, 512, doubles},       {256, 1 << 17, neighbors},
                           {256, 1 << 19, ring},      {256, 1 << 20, neighbors}, {256, any, ring},
                           {512, 32, doubles},        {512, 128, bruck},         {512, 1 << 10, doubles},
                           {512, 1 << 17, neighbors}, {512, 1 << 19, ring},      {512, 1 << 20, neighbors},
                           {512, any, ring},          {1024, 64, doubles},       {1024, 256, bruck},
                           {1024, 1 << 11, doubles},  {1024, any, neighbors},    {2048, 4, doubles},
                           {2048, 8, bruck},          {2048, 16, doubles},       {2048, 32, bruck},
                           {2048, 256, doubles},      {2048, 512, bruck},        {2048, 1 << 12, doubles},
                           {2048, any, neighbors},    {4096, 32, bruck},         {4096, 128, doubles},
                           {4096, 512, bruck},        {4096, 1 << 12, doubles},  {4096, any, neighbors},
                           {any, 2, doubles},         {any, 8, bruck},           {any, 16, doubles},
                           {any, 512, bruck},         {any, 1 << 12, doubles},   {any, any, neighbors}});
// By the bytes of all blocks.
constexpr auto reduce_scatter = std::to_array<Choice>({{4, 1 << 16, pairs},
                                                       {4, 1 << 17, halving},
                                                       {4, any, pairs},
                                                       {32, 1 << 18, halving},
                                                       {32, any, pairs},
                                                       {64, 1 << 19, halving},
                                                       {64, any, pairs},
                                                       {any, any, halving}});
constexpr auto gather = std::to_array<Choice>({{4, 4, line},
                                               {4, 1 << 15, tree},
                                               {4, 1 << 16, line},
                                               {4, 1 << 17, tree},
                                               {4, any, line},
                                               {8, 1 << 10, tree},
                                               {8, 1 << 13, line},
                                               {8, 1 << 15, tree},
                                               {8, any, line},
                                               {256, any, tree},
                                               {512, 1 << 11, tree},
                                               {512, 1 << 13, line},
                                               {any, any, tree}});
constexpr auto scatter = std::to_array<Choice>({{4, any, line},
                                                {8, 1 << 11, tree},
                                                {8, 1 << 12, line},
                                                {8, 1 << 13, tree},
                                                {8, any, line},
                                                {32, 1 << 14, tree},
                                                {32, any, line},
                                                {64, 512, tree},
                                                {64, 1 << 13, line},
                                                {64, 1 << 14, tree},
                                                {64, any, line},
                                                {any, 512, tree},
                                                {any, any, line}});
constexpr auto scan = std::to_array<Choice>({{any, any, line}});

std::span<const Choice> rows(std::string_view operation) {
    if (operation == "barrier") return barrier;
    if (operation == "bcast") return bcast;
    if (operation == "reduce") return reduce;
    if (operation == "allreduce") return allreduce;
    if (operation == "alltoall") return alltoall;
    if (operation == "allgather") return allgather;
    if (operation == "reduce_scatter") return reduce_scatter;
    if (operation == "gather") return gather;
    if (operation == "scatter") return scatter;
    if (operation == "scan") return scan;
    return {};
}

std::string_view takes(std::string_view operation, const AlgorithmArguments& asked) {
    const std::int64_t bytes = operation == "reduce_scatter" ? asked.bytes * asked.ranks : asked.bytes;
    const std::int32_t power = power_below(asked.ranks);
    for (const Choice& row : rows(operation)) {
        if (asked.ranks >= row.ranks || bytes >= row.bytes) continue;
        // What an algorithm does itself with too few elements, or with such a number of ranks.
        if (operation == "allreduce" && row.algorithm == ring && bytes / element < asked.ranks)
            return doubles;
        if (row.algorithm == halves && !element_for_each(bytes, asked.ranks)) return tree;
        if (operation == "allgather" && row.algorithm == doubles && power != asked.ranks) return bruck;
        if (row.algorithm == neighbors && asked.ranks % 2 != 0) return ring;
        return row.algorithm;
    }
    return {};
}

const Entered openmpi_4(Library{"openmpi-4", takes});

}  // namespace
}  // namespace leadline::collectives
