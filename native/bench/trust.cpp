// leadline-trust: a benchmark of the harness and the plain loop of the same name in turns, in one process,
// over the same buffers.
//
// The job gives `benchmark`, its `point`, `rounds`, and the point's `tolerance` and `time`. In a round the
// harness answers the point as it always does, the plain loop takes twice as many samples of the same batch,
// and the harness answers once more: what drifts, drifts for both. A line of the answers is the medians of
// one round.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/plain.h"
#include "harness/job.hpp"
#include "harness/statistics.hpp"

namespace {

using namespace leadline;

using Plain = double (*)(const void* out, void* in, int bytes, long batch);

const std::map<std::string, Plain> plain_loops{{"pingpong", plain_pingpong},
                                               {"barrier", plain_barrier},
                                               {"bcast", plain_bcast},
                                               {"allreduce", plain_allreduce}};

constexpr int settling = 3;  // samples of the plain loop that do not count, as the harness's first do not

class Contest {
public:
    Contest(Session& session, const Question& question)
        : session_(session),
          question_(question),
          benchmark_(*find(question.benchmark)),
          plain_(plain_loops.at(question.benchmark)) {}

    // The medians of one round; of use on rank 0.
    nlohmann::json round() {
        std::vector<double> harness;
        std::vector<double> plain;
        by_harness(harness);
        by_hand(plain);
        by_hand(plain);
        by_harness(harness);
        return {{"event", "round"},
                {"harness", median(harness).value},
                {"plain", median(plain).value},
                {"batch", batch()},
                {"samples", plain.size()}};
    }

    // What the others must know of rank 0's answer.
    [[nodiscard]] Verdict decide(const std::vector<double>&) const { return {taken_[0], taken_[1]}; }

private:
    Session& session_;
    Question question_;
    Arena arena_;
    const Declaration& benchmark_;
    Plain plain_;
    std::array<double, 2> taken_{};  // batch and samples of the harness's last answer

    [[nodiscard]] long batch() const { return static_cast<long>(taken_[0]); }
    [[nodiscard]] int samples() const { return static_cast<int>(taken_[1]); }

    [[nodiscard]] int bytes() const {
        const auto size = question_.point.find("bytes");
        return size == question_.point.end() ? 0 : static_cast<int>(std::get<std::int64_t>(size->second));
    }

    SharedPoint asked() { return {benchmark_, question_.point, arena_, question_.limits}; }

    void by_harness(std::vector<double>& to) {
        SharedPoint point = asked();
        Run run(point, session_.world(), session_.control());
        benchmark_.body(run).complete();
        if (session_.rank() == 0) {
            const Sampler& sampler = point.sampler;
            const auto& all = sampler.samples().front();
            std::copy(all.begin() + sampler.warmup(), all.end(), std::back_inserter(to));
            taken_ = {static_cast<double>(sampler.batch()),
                      static_cast<double>(all.size()) - sampler.warmup()};
        }
        const Verdict shared = session_.control().agree({}, Decide(*this)).await_resume();
        taken_ = {shared.more, shared.batch};
    }

    void by_hand(std::vector<double>& to) {
        SharedPoint point = asked();
        Run run(point, session_.world(), session_.control());  // whose buffers lie where the harness's did
        const Bytes out = run.buffers(bytes())[0];
        const Bytes in = run.buffers(bytes())[0];
        for (int i = -settling; i < samples(); ++i) {
            double each = plain_(out.data(), in.data(), bytes(), batch());
            if (benchmark_.metrics.front().over == Over::largest) each = plain_slowest(each);
            if (i >= 0) to.push_back(each);
        }
    }
};

std::string read_job(Session& session, const std::string& path) {
    std::string text;
    if (session.rank() == 0) {
        std::ifstream file(path);
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    Session::broadcast(text);
    return text;
}

int rounds_of(const std::string& job) { return nlohmann::json::parse(job).at("rounds").get<int>(); }

void compare(Session& session, const std::string& job_path, const std::string& answers_path) {
    const std::string text = read_job(session, job_path);
    Question question = parse_job(text).questions.at(0);
    question.limits.floor = std::max(question.limits.floor, measure_clock().shortest_sample());
    Contest contest(session, question);
    (void)contest.round();  // the first exchanges of a launch open its transports
    auto rounds = nlohmann::json::array();
    for (int i = 0; i < rounds_of(text); ++i) rounds.push_back(contest.round());
    if (session.rank() != 0) return;
    Answers answers(answers_path);
    for (const auto& round : rounds) answers.write(round);
    answers.write({{"event", "done"}});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::string job = argv[1];
    const std::string answers = argv[2];
    Session session(argc, argv);
    plain_begin();
    try {
        compare(session, job, answers);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "leadline-trust: %s\n", problem.what());
        Session::abandon();
    }
    plain_end();
    return 0;
}
