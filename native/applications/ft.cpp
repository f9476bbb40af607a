// How long does NAS FT take, and how much of its communication is not overlapped?
//
// A partial differential equation by three-dimensional Fourier transforms: one there, then for each iteration
// an evolution, one back and a checksum, held against the published ones (Bailey et al., The NAS Parallel
// Benchmarks, 1994, FT). Planes are handed over all at once, or in slabs or pencils while the next are
// transformed, by messages or by one-sided puts (Bell et al., one-sided communication and overlap, 2006).
#include <algorithm>

#include "applications/ft/fused.hpp"
#include "applications/ft/solver.hpp"
#include "harness/benchmark.hpp"

namespace leadline {
namespace {

using namespace ft;

const std::vector<std::string> pieces{"exchange", "slabs", "pencils", "fused"};

ft::Options options_of(const Run& run, const Problem& problem) {
    ft::Options options{.depth = run["depth"], .padding = run["padding"], .polls = run["polls"]};
    const auto at = std::ranges::find(pieces, run.word("pieces")) - pieces.begin();
    options.fused = run.word("pieces") == "fused";
    if (!options.fused) options.pieces = static_cast<Pieces>(at);
    const std::string& by = run.word("by");
    if (by == "put") options.window = Exposure::allocated;
    if (by == "put-created") options.window = Exposure::created;
    if (by == "put-shmem") options.window = Exposure::shmem;
    if (by == "store") options.window = Exposure::shared;
    options.vectors = run.word("kernel") == "vectors";
    options.kept = run.word("result") == "kept";
    const std::int64_t asked = run["iterations"];
    options.iterations =
        asked == 0 ? problem.iterations : static_cast<int>(std::min<std::int64_t>(asked, problem.iterations));
    return options;
}

// Skips what cannot be run, before anything is allocated; all ranks alike.
Task<> check(Run& run, const Problem& problem, const ft::Options& options) {
    const int ranks = run.ranks();
    const std::string named = "class " + std::string(problem.name);
    for (const std::int64_t planes : {problem.nx, problem.nz})
        if (planes % ranks != 0)
            Run::skip(named + " has " + std::to_string(problem.nx) + " planes of x and " +
                      std::to_string(problem.nz) + " of z, of which each of " + std::to_string(ranks) +
                      " ranks gets equally many: take a number of ranks that divides both");
    if (options.fused && !options.window)
        Run::skip(
            "fused rows go out of the cache to where they belong, which messages cannot: take put or store");
    if (options.fused && !Fused::refusal(problem, ranks).empty()) Run::skip(Fused::refusal(problem, ranks));
    if (!options.fused && options.stores())
        Run::skip("only fused rows are stored where they belong: take put");
    if (!options.fused && !options.kept)
        Run::skip("only fused has its checksum while the result is in the cache: take result = kept");
    if (options.polls > 0 && (options.window || options.pieces == Pieces::exchange))
        Run::skip("only messages under way are tested for: take polls = 0, or slabs or pencils by messages");
    if (Control::computes && run.verifies()) {
        if (!transforms_available() && !(options.fused && options.vectors))
            Run::skip("this program was built without FFTW: install libfftw3-dev and run again");
        Comm& world = run.world();
        const int node = world.placement(world.rank()).node;
        std::int64_t beside = 0;
        for (int rank = 0; rank < ranks; ++rank) beside += world.placement(rank).node == node ? 1 : 0;
        const std::int64_t wants = beside * Solver::memory(problem, ranks, options);
        const std::int64_t left = memory_left();
        std::int64_t lacking = left > 0 ? std::max<std::int64_t>(0, wants - left) : 0;
        std::int64_t most = 0;
        const Bytes mine = std::as_writable_bytes(std::span(&lacking, 1));
        const Bytes all = std::as_writable_bytes(std::span(&most, 1));
        co_await world.allreduce(mine, all, Type::int64, Reduce::sum);
        if (most > 0)
            Run::skip(named + " takes " + told(wants) + " on this node, and " + told(left) +
                      " are left: take a smaller class or more nodes");
    }
}

void judge(Run& run, const Solver& solver, const Problem& problem) {
    const auto found = solver.checksums();
    for (std::size_t i = 0; i < found.size(); ++i)
        run.verify(agrees(found[i], problem.checksums[i]),
                   "checksum " + std::to_string(i + 1) + " of class " + std::string(problem.name) + " is " +
                       told(found[i]) + ", and NAS published " + told(problem.checksums[i]));
}

}  // namespace

BENCHMARK(
    ft, at_least(2),
    choice("class", problem_names(), "of NAS: size of the grid and number of iterations", {"S"}),
    choice("pieces", pieces,
           "what is handed over at once: all planes, a plane's part for a rank, a row; or a row out of the "
           "cache",
           {"exchange", "slabs", "pencils"}),
    choice("by", {"messages", "put", "put-created", "put-shmem", "store"}, "how it is handed over",
           {"messages", "put"}),
    choice("kernel", {"fftw", "vectors"}, "what transforms columns: FFTW, or Leadline's vectorized code",
           {"fftw"}),
    choice("result", {"kept", "summed"},
           "whether fused writes the result to memory, or has its checksum while it is in the cache",
           {"kept"}),
    counts("depth", {96}, "receives posted ahead; 0: all of a transform"),
    counts("padding", {0}, "points added to rows, or to received slabs, to avoid powers of two"),
    counts("polls", {0}, "tiles of columns between two tests of pending messages; 0: no tests"),
    counts("iterations", {0}, "number of iterations; 0: all of the class"), Sampling{.one_operation = true},
    metric("time", Unit::second, lower, largest, "time of the whole benchmark on the slowest rank"),
    metric("fft", Unit::second, lower, mean, "time in transforms"),
    metric("evolve", Unit::second, lower, mean, "time in initial state, evolution and checksums"),
    metric("transpose", Unit::second, lower, mean, "time in copies within a rank's memory"),
    metric("initiation", Unit::second, lower, mean, "time in calls that start communication"),
    metric("completion", Unit::second, lower, mean,
           "time in calls that complete communication, including collectives"),
    metric("barrier", Unit::second, lower, mean, "time waiting at barriers"),
    metric("hidden", Unit::one, higher, mean,
           "share of the time of the same messages alone that was overlapped"),
    metric("messages", Unit::one, lower, largest, "sent by a rank in one transform, including to itself"),
    metric("bytes", Unit::one, lower, largest, "sent by a rank in one transform, including to itself")) {
    const Problem& asked = problem(run.word("class"));
    const ft::Options options = options_of(run, asked);
    co_await check(run, asked, options);
    const std::unique_ptr<Solver> held = Solver::of(run, asked, options);
    Solver& solver = *held;
    co_await solver.open();
    while (co_await run.next_sample()) {
        run.start();
        for ([[maybe_unused]] auto i : run.batch()) co_await solver.solve();
        run.stop();
        judge(run, solver, asked);
        double alone = 0;
        co_await solver.alone(alone);
        const Split& split = solver.split();
        run.sample("time", run.each());
        run.sample("fft", split.of(Spent::fft));
        run.sample("evolve", split.of(Spent::evolve));
        run.sample("transpose", split.of(Spent::transpose));
        run.sample("initiation", split.of(Spent::initiation));
        run.sample("completion", split.of(Spent::completion));
        run.sample("barrier", split.of(Spent::barrier));
        const double visible = split.of(Spent::initiation) + split.of(Spent::completion);
        const double transforms = 1 + options.iterations;
        run.sample("hidden", alone > 0 ? 1 - visible / (alone * transforms) : 0);
        run.sample("messages", static_cast<double>(solver.messages()));
        run.sample("bytes", static_cast<double>(solver.bytes()));
    }
    co_await solver.close();
}

}  // namespace leadline
