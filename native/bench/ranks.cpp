// leadline-ranks: programs of ranks as one writes them without a harness, on a described machine; what their
// one operation takes of the processor, told apart from the start of all ranks.
//
// The job gives `simulate` as every simulated job does, `program` (allreduce, barrier, messages) and
// `rounds`. The line of the answers has `seconds` of the processor, from where all ranks have met to where
// the last has ended the operation, and `messages` that were matched meanwhile.
#include <array>
#include <bit>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "harness/job.hpp"

namespace {

using namespace leadline;

// Processor time of this process so far, s.
double processor() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// What the ranks of a program share.
struct Shared {
    int rounds = 1;
    double began = 0;  // processor time at which the first rank went on
    double ended = 0;  // and at which the last was done
    std::uint64_t messages = 0;
    int ranks = 0;
    int come = 0;
    int gone = 0;

    [[nodiscard]] Verdict decide(const std::vector<double>&) const {
        return {.more = 1, .batch = static_cast<double>(rounds)};
    }
    void begin() {
        if (come++ == 0) began = processor();
    }
    void end() {
        if (++gone == ranks) ended = processor();
    }
};

// All ranks meet, as the harness has them meet before a sample.
auto meet(Control& control, Shared& shared) { return control.agree({}, Decide(shared)); }

Task<> allreduce(Comm world, Control control, Shared& shared) {
    std::array<std::byte, 8> in{};
    std::array<std::byte, 8> out{};
    co_await meet(control, shared);
    shared.begin();
    for (int i = 0; i < shared.rounds; ++i) co_await world.allreduce(in, out, Type::float64, Reduce::sum);
    shared.end();
}

Task<> barrier(Comm world, Control control, Shared& shared) {
    co_await meet(control, shared);
    shared.begin();
    for (int i = 0; i < shared.rounds; ++i) co_await world.barrier();
    shared.end();
}

// To whom a rank sends in a round: a bijection that mixes the bits of its number, so that everybody also
// takes one message a round and nobody waits for ever.
int peer(int rank, int ranks, int round) {
    const auto mask = static_cast<std::uint32_t>(ranks - 1);
    const int half = static_cast<int>(std::bit_width(mask)) / 2;
    auto mixed = static_cast<std::uint32_t>(rank) + static_cast<std::uint32_t>(round) * 0x9E3779B9U;
    for (const std::uint32_t by : {0x85EBCA6BU, 0xC2B2AE35U}) {
        mixed = (mixed * by) & mask;
        mixed ^= mixed >> half;
    }
    return static_cast<int>(mixed);
}

Task<> messages(Comm world, Control control, Shared& shared) {
    std::array<std::byte, 8> out{};
    std::array<std::byte, 8> in{};
    co_await meet(control, shared);
    shared.begin();
    for (int i = 0; i < shared.rounds; ++i) {
        co_await world.send(out, peer(world.rank(), world.size(), i));
        co_await world.recv_any(in);
        ++shared.messages;
    }
    shared.end();
}

void play(const nlohmann::json& job, Session& session, Answers& answers) {
    session.configure(job.at("simulate"));
    Shared shared{.rounds = job.value("rounds", 1), .ranks = session.size()};
    const std::string name = job.at("program");
    const auto program = name == "allreduce" ? allreduce : name == "barrier" ? barrier : messages;
    if (!std::has_single_bit(static_cast<unsigned>(session.size())))
        throw std::invalid_argument("ranks must be a power of two");
    session.run([&](Comm world, Control control) { return program(world, control, shared); });
    answers.write(
        {{"event", "ran"}, {"seconds", shared.ended - shared.began}, {"messages", shared.messages}});
    answers.write({{"event", "done"}});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::string job = argv[1];
    Answers answers(argv[2]);
    Session session(argc, argv);
    try {
        std::ifstream file(job);
        play(nlohmann::json::parse(file), session, answers);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "leadline-ranks: %s\n", problem.what());
        return 1;
    }
    return 0;
}
