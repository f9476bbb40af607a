// A machine of few, round numbers, and jobs asked of it: what the simulator's tests share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/job.hpp"

namespace leadline::testing_sim {

using nlohmann::json;

// 1 us to send, 2 us to receive, 3 us between the ends and 0.1 us a link, 1 GB/s; a node runs one rank.
json round_machine();

json on(int ranks, json described = round_machine(), std::vector<int> shape = {});

// The answers' lines to the points, in order.
std::vector<json> ask(const json& points, const json& simulate);

// A point of a benchmark; what it does not say is the first value of a sweep's defaults.
json question(const std::string& benchmark, json point);

// Of a benchmark as it is described, points that differ from the first values of all sweeps in one.
json points_of(const json& benchmark);

// The one sample of a metric at one point.
double answer(const std::string& benchmark, const json& point, const json& simulate,
              const std::string& metric);

// A program of every rank, run on a described machine; throws what it throws. After `period` ranks it is the
// same.
template <class Program>
void play(const json& simulate, Program program, int period = 0) {
    int argc = 0;
    char** argv = nullptr;
    Session session(argc, argv);
    session.configure(simulate);
    do session.run(program, period);
    while (session.needs_rerun());
}

}  // namespace leadline::testing_sim
