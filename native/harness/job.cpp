#include "harness/job.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>

namespace leadline {
namespace {

using nlohmann::json;

// The host's counters move in ticks of 10 ms a processor: over less than this they tell nothing.
constexpr double shortest_watch = 0.25;

Value parse_value(const json& value) {
    if (value.is_string()) return value.get<std::string>();
    return value.get<std::int64_t>();
}

Question parse_question(const json& from) {
    Question question{.id = from.at("id"), .benchmark = from.at("benchmark")};
    if (!find(question.benchmark))
        throw std::runtime_error("there is no benchmark '" + question.benchmark + "'");
    for (const auto& [name, value] : from.at("point").items()) question.point[name] = parse_value(value);
    Limits& limits = question.limits;
    limits.tolerance = from.value("tolerance", limits.tolerance);
    limits.time = from.value("time", limits.time);
    limits.floor = from.value("floor", limits.floor);
    limits.least = from.value("least", limits.least);
    limits.most = from.value("most", limits.most);
    return question;
}

// The counters of this launch's processes and of rank 0's host: of the launch, and of one point after
// another.
class Watch {
public:
    explicit Watch(Session& session)
        : session_(session),
          launch_(disturbance()),
          host_(host_times()),
          launch_at_(steady_seconds()),
          point_(launch_),
          point_at_(launch_at_) {}

    struct Seen {
        double duration = 0;           // of the point, s
        double run_delay = 0;          // of the rank that waited longest, s
        double switches = 0;           // of all ranks
        std::optional<double> steal;   // processors that the hypervisor gave to others, mean
        std::optional<double> others;  // processors that other processes kept busy, mean
    };

    void begin_point() {
        point_ = disturbance();
        point_at_ = steady_seconds();
    }

    // Collective; the result is rank 0's.
    Seen point() {
        const double end = steady_seconds();
        const Disturbance now = disturbance();
        const Disturbance point = now - point_;
        const std::array<double, 3> mine{point.run_delay, point.switches, (now - launch_).cpu};
        const std::vector<double> all = session_.gather({mine.begin(), mine.end()});
        Seen seen;
        seen.duration = end - point_at_;
        double cpu = 0;
        const auto& places = session_.places();
        for (std::size_t rank = 0; rank * 3 < all.size(); ++rank) {
            seen.run_delay = std::max(seen.run_delay, all[rank * 3]);
            seen.switches += all[rank * 3 + 1];
            if (places[rank].host == places[0].host) cpu += all[rank * 3 + 2];
        }
        const double elapsed = steady_seconds() - launch_at_;
        if (elapsed < shortest_watch) return seen;
        const HostTimes host = host_times();
        // One tick may have begun before: what is told is the least that it was.
        seen.steal = std::max(0.0, host.steal - host_.steal - host.tick) / elapsed;
        seen.others = std::max(0.0, (host.busy - host_.busy - cpu) / elapsed);
        return seen;
    }

private:
    Session& session_;
    Disturbance launch_;
    HostTimes host_;
    double launch_at_;
    Disturbance point_;
    double point_at_;
};

[[maybe_unused]] json optional_number(const std::optional<double>& value) {
    return value ? json(*value) : json();
}

json record(const Question& question, const Metric& metric, const std::vector<double>& samples,
            const Sampler& sampler) {
    std::vector<double> given;
    int warmup = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (std::isnan(samples[i])) continue;
        given.push_back(samples[i]);
        if (i < static_cast<std::size_t>(sampler.warmup())) ++warmup;
    }
    return {{"event", "record"},
            {"id", question.id},
            {"metric", metric.name},
            {"unit", unit_name(metric.unit)},
            {"better", metric.better == Better::lower ? "lower" : "higher"},
            {"difference", metric.difference},
            {"samples", given},
            {"warmup", warmup},
            {"batch", sampler.batch()},
            {"stopped_by", sampler.stopped_by()}};
}

// Runs the body of every rank that this process plays to its end; the reason where it was not run.
std::optional<std::string> ask(Session& session, SharedPoint& asked) {
    const Declaration& benchmark = asked.benchmark;
    const int ranks = session.size();
    if (ranks < benchmark.ranks.least)
        return "needs " + std::to_string(benchmark.ranks.least) + " ranks, there are " +
               std::to_string(ranks);
    std::deque<Run> runs;
    try {
        session.run(
            [&](Comm world, Control control) {
                return benchmark.body(runs.emplace_back(asked, std::move(world), std::move(control)));
            },
            benchmark.alike.period ? benchmark.alike.period(asked.point, ranks) : 0);
    } catch (const Skipped& skipped) {
        return skipped.what();
    } catch (const Unsupported& unsupported) {
        return unsupported.what();
    }
    return std::nullopt;
}

// What a record says of its point beside its samples.
json circumstances(Session& session, const Watch::Seen& seen) {
    json said = session.answered();
    said["duration"] = seen.duration;
    if constexpr (Session::measures)
        said.update(json{{"run_delay", seen.run_delay},
                         {"switches", std::lround(seen.switches)},
                         {"steal", optional_number(seen.steal)},
                         {"others", optional_number(seen.others)},
                         {"frequency", optional_number(frequency())}});
    return said;
}

// How well the ranks of an isolated point started together, after warm-up.
json starts(const SharedPoint& asked) {
    std::vector<double> late = asked.late;
    late.erase(late.begin(),
               late.begin() + std::min<std::ptrdiff_t>(asked.sampler.warmup(), std::ssize(late)));
    const auto times = std::ranges::count_if(late, [](double each) { return each > 0; });
    const auto all = static_cast<double>(std::max<std::size_t>(late.size(), 1));
    return {{"clock_error", asked.clock_error},
            {"late", static_cast<double>(times) / all},
            {"late_at", late.empty() ? 0 : std::ranges::max(late)}};
}

// At rank 0: why the point is invalid, if a rank found a result of its own to be wrong. Collective.
std::optional<std::string> invalid(const SharedPoint& asked) {
    const std::vector<std::string> said = Session::gather_texts(asked.wrong.value_or(""));
    const auto spoke = [](const std::string& each) { return !each.empty(); };
    const auto first = std::ranges::find_if(said, spoke);
    if (first == said.end()) return std::nullopt;
    return "wrong result on " + std::to_string(std::ranges::count_if(said, spoke)) + " of " +
           std::to_string(said.size()) + " ranks; rank " + std::to_string(first - said.begin()) + ": " +
           *first;
}

void answer(const Question& question, const Job& job, Session& session, Arena& arena, Watch& watch,
            Answers* answers) {
    const Declaration& benchmark = *find(question.benchmark);
    if (answers) answers->write({{"event", "begin"}, {"id", question.id}});
    watch.begin_point();
    std::optional<SharedPoint> asked;
    std::optional<std::string> skipped;
    do {
        asked.emplace(benchmark, question.point, arena, question.limits);
        asked->directory = job.directory;
        // New pages and peers' first messages are no part of a sample, and nor is what disturbs them.
        if constexpr (Session::measures) asked->first_sample = [&watch] { watch.begin_point(); };
        skipped = ask(session, *asked);
    } while (session.needs_rerun());
    const auto seen = watch.point();
    const auto wrong = invalid(*asked);
    if (!answers) return;
    json common = circumstances(session, seen);
    if (skipped) answers->write({{"event", "skip"}, {"id", question.id}, {"reason", *skipped}});
    if (wrong) answers->write({{"event", "invalid"}, {"id", question.id}, {"reason", *wrong}});
    if (asked->isolated) common.update(starts(*asked));
    for (std::size_t i = 0; !skipped && !wrong && i < benchmark.metrics.size(); ++i) {
        json line = record(question, benchmark.metrics[i], asked->sampler.samples()[i], asked->sampler);
        if (line.at("samples").empty()) continue;
        line.update(common);
        answers->write(line);
    }
    answers->write({{"event", "end"}, {"id", question.id}});
}

}  // namespace

Job parse_job(const std::string& text) {
    const auto from = json::parse(text);
    Job job;
    for (const auto& each : from.at("points")) job.questions.push_back(parse_question(each));
    job.settings = from.value("settings", std::vector<std::string>{});
    job.simulate = from.value("simulate", json());
    job.directory = from.value("directory", ".");
    return job;
}

Answers::Answers(const std::string& path) : path_(path), file_(path, std::ios::app) {
    if (!file_) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
}

void Answers::write(const json& line) {
    errno = 0;
    file_ << line.dump() << '\n' << std::flush;
    if (!file_) throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno ? errno : EIO));
}

void run_job(const Job& job, Session& session, Answers* answers) {
    session.configure(job.simulate);
    // A simulated clock has no step and costs nothing; this host's own would let it choose how much is
    // sampled.
    const ClockQuality clock = Session::measures ? measure_clock() : ClockQuality{};
    if (answers) {
        json line = session.facts(job.settings);
        line.update(json{{"event", "launch"},
                         {"ranks", session.size()},
                         {"clock", {{"resolution", clock.resolution}, {"overhead", clock.overhead}}}});
        if constexpr (Session::measures)
            line["rotation"] = {{"bytes", Run::rotation()}, {"cache", last_level_cache()}};
        answers->write(line);
    }
    Arena arena;
    Watch watch(session);
    const double sent = Session::measures ? network_sent() : 0;
    for (Question question : job.questions) {
        question.limits.floor = std::max(question.limits.floor, clock.shortest_sample());
        question.limits.exact = session.exact();
        answer(question, job, session, arena, watch, answers);
    }
    if (!answers) return;
    json line{{"event", "done"}};
    // Tells whether ranks in network namespaces of one machine sent messages through an interface at all.
    if constexpr (Session::measures) line["sent"] = network_sent() - sent;
    answers->write(line);
}

}  // namespace leadline
