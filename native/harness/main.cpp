// leadline-bench: asks the points of a job and writes what it measured, a JSON line each.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "harness/job.hpp"

namespace {

using namespace leadline;

constexpr const char* usage =
    "usage: leadline-bench JOB ANSWERS      ask the points of JOB, append to ANSWERS\n"
    "       leadline-sim --collectives QUESTIONS    print the messages of collectives\n";

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

void measure(Session& session, const std::string& job_path, const std::string& answers_path) {
    // Only rank 0 reads and writes: the other ranks may be on hosts that do not share its file system.
    const bool root = session.rank() == 0;
    std::string text = root ? read_file(job_path) : std::string();
    session.broadcast(text);
    const Job job = parse_job(text);
    std::optional<Answers> answers;
    if (root) answers.emplace(answers_path);
    run_job(job, session, root ? &*answers : nullptr);
}

// Only a described machine knows by which messages a collective is done.
template <class Machine>
void list_collectives(Machine& session, const std::string& path) {
    if constexpr (requires(const nlohmann::json& asked) { session.list_collectives(asked, std::cout); })
        session.list_collectives(nlohmann::json::parse(read_file(path)), std::cout);
    else throw std::runtime_error("collectives are listed by leadline-sim");
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() != 2) {
        std::cerr << usage;
        return 2;
    }
    Session session(argc, argv);
    try {
        if (arguments[0] == "--collectives") list_collectives(session, arguments[1]);
        else measure(session, arguments[0], arguments[1]);
    } catch (const std::exception& problem) {
        // One write, so that the lines of several ranks do not mix; the launcher's caller looks for this
        // mark.
        const std::string line =
            "leadline-bench: rank " + std::to_string(session.rank()) + ": " + problem.what() + "\n";
        std::fputs(line.c_str(), stderr);
        Session::abandon();
    }
    return 0;
}
