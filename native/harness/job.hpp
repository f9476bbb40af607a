// A job: the points that one launch is asked, and the lines in which it answers.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "comm/clock.hpp"
#include "harness/run.hpp"
#include "harness/watch.hpp"

namespace leadline {

struct Question {
    long id = 0;
    std::string benchmark;
    Point point{};
    Limits limits{};
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving JSON throws nothing, which its header does not say
struct Job {
    std::vector<Question> questions;
    std::vector<std::string>
        settings;             // words in the names of the library's settings to report; none: no report
    nlohmann::json simulate;  // the machine to simulate and how; null on a real one
    std::string directory;    // where benchmarks may write files
};

// Reads a job. Throws std::runtime_error, or nlohmann's own exception, saying what is wrong with it.
Job parse_job(const std::string& text);

// JSON lines, each written whole and flushed, so that whatever was finished stays.
class Answers {
public:
    explicit Answers(const std::string& path);
    void write(const nlohmann::json& line);  // throws std::runtime_error when the file takes no more

private:
    std::string path_;
    std::ofstream file_;
};

// Asks each question of the job on all ranks; rank 0 holds `answers`, the others null.
void run_job(const Job& job, Session& session, Answers* answers);

}  // namespace leadline
