// How long does a recorded or written program take?
//
// Each rank executes its operations (docs/program-format.md): the messages, collectives and one-sided
// accesses of the program, and between them its computation, as time that a core is kept busy. Communicators
// are made before the clock starts; where the program makes one, its ranks tell each other what they told
// then.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/benchmark.hpp"
#include "program/player.hpp"

namespace leadline {
namespace {

constexpr const char* ring = "ring";
constexpr std::int64_t ring_bytes = 1024;
constexpr std::int64_t ring_turns = 100;

program::Program program_of(const std::string& name, int ranks) {
    if (name == ring) return program::ring(ranks, ring_bytes, ring_turns);
    try {
        return program::read(name);
    } catch (const std::runtime_error& problem) {
        Run::skip(problem.what());
    }
}

double factor(const std::string& word) { return std::strtod(word.c_str(), nullptr); }

// Of the simulated ranks, or of this one alone.
using AllTimes = std::vector<std::vector<std::int64_t>>;

// Where the simulator knows of which of the machine's constants a time is made, the trace says that of the
// time until the last rank has ended, in the place of each operation's times.
#ifdef LEADLINE_PARTS
constexpr bool knows_parts = true;
struct Parts {
    double time = -1;  // s
    std::array<double, Control::parts> of{};
};

// A rank has ended: what its time is made of, where it is the last so far.
void ended(Parts& last, const Run& run, const std::array<double, Control::parts>& began) {
    if (run.elapsed() <= last.time) return;
    last = {.time = run.elapsed(), .of = run.made_of()};
    for (std::size_t i = 0; i < last.of.size(); ++i) last.of[i] -= began[i];
}

void write(const Parts& parts, const std::string& path) {
    constexpr std::array<const char*, Control::parts> names{"latency", "bandwidth", "overhead", "computation",
                                                            "messages"};
    nlohmann::json said{{"time", parts.time}};
    for (std::size_t i = 0; i < names.size(); ++i) said[names[i]] = parts.of[i];
    if (!(std::ofstream(path) << said)) throw std::runtime_error("cannot write " + path);
}
#else
constexpr bool knows_parts = false;
#endif

}  // namespace

BENCHMARK(program, at_least(1),
          words("program", "file of the program; ring: 100 turns of 1 KiB from each rank to the next",
                [](const Scale&) { return std::vector<std::string>{ring}; }),
          words(
              "compute", "factor of the computation between operations; 0: none",
              [](const Scale&) { return std::vector<std::string>{"1"}; }, R"(\d+(\.\d+)?)"),
          words("algorithms",
                "of collectives on described machines: library, or such as allreduce=recursive-doubling",
                [](const Scale&) { return std::vector<std::string>{"library"}; }),
          words("trace", "file for when each operation was entered and left, on described machines; none",
                [](const Scale&) { return std::vector<std::string>{"none"}; }),
          Sampling{.one_operation = true},
          metric("time", Unit::second, lower, largest, "time until the last rank has ended"),
          metric("communication", Unit::second, lower, Over::mean,
                 "time of a rank in messages and collectives, mean of all")) {
    const program::Program& played = run.once([&] { return program_of(run.word("program"), run.ranks()); });
    if (const std::string why = program::refusal(played, run.ranks()); !why.empty()) Run::skip(why);
    const program::Playing& playing = run.once([&] {
        return program::Playing{.compute = factor(run.word("compute")),
                                .algorithms = program::algorithms(run.word("algorithms"))};
    });
    const bool keeps = !Control::computes && !knows_parts && run.word("trace") != "none";
    const auto& kept = run.once([&] { return std::make_shared<AllTimes>(keeps ? run.ranks() : 0); });
#ifdef LEADLINE_PARTS
    const auto& parts = run.once([] { return std::make_shared<Parts>(); });
#endif
    program::Player player(run, played, playing);
    co_await player.prepare();
    while (co_await run.next_sample()) {
        auto* times = keeps ? &(*kept)[static_cast<std::size_t>(run.rank())] : nullptr;
        if (times) times->clear();
        run.start();
#ifdef LEADLINE_PARTS
        const auto began = run.made_of();
#endif
        co_await player.play(times);
        run.stop();
#ifdef LEADLINE_PARTS
        ended(*parts, run, began);
#endif
        run.sample("time", run.elapsed());
        // Simulated time has whole picoseconds: less is what rounding leaves of nothing.
        const double others = run.elapsed() - player.computed();
        run.sample("communication", others < 1e-12 ? 0 : others);
        co_await player.clear();
    }
#ifdef LEADLINE_PARTS
    if (run.rank() == 0) write(*parts, run.word("trace"));
#endif
    if (keeps && run.rank() == 0) program::write_times(run.word("trace"), played.checksum, *kept);
}

}  // namespace leadline
