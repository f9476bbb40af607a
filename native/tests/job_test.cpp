// A job in, answers out: what is asked is answered, and what cannot be is said.
#include "harness/job.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

namespace leadline {
namespace {

using nlohmann::json;

std::vector<json> answers_to(const json& points, Script script = {.fixed = 1e-6}) {
    const auto path = std::filesystem::temp_directory_path() /
                      ("leadline-" + std::to_string(getpid()) +
                       testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove(path);
    {
        Session session(std::move(script));
        Answers answers(path);
        run_job(parse_job(json{{"points", points}}.dump()), session, &answers);
    }
    std::vector<json> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    std::filesystem::remove(path);
    return lines;
}

json ping(long id, std::int64_t bytes) {
    return {{"id", id}, {"benchmark", "pingpong"}, {"point", {{"bytes", bytes}, {"buffers", "reused"}}}};
}

TEST(Job, AnswersEachPointBetweenItsBeginAndEnd) {
    const auto lines = answers_to(json::array({ping(7, 8), ping(9, 64)}));
    std::vector<std::string> events;
    events.reserve(lines.size());
    for (const auto& line : lines) events.push_back(line.at("event"));
    EXPECT_EQ(events, (std::vector<std::string>{"launch", "begin", "record", "end", "begin", "record", "end",
                                                "done"}));
    EXPECT_EQ(lines[2].at("id"), 7);
    EXPECT_EQ(lines[5].at("id"), 9);
}

TEST(Job, ARecordHoldsItsSamplesAndHowTheyWereTaken) {
    json asked = ping(0, 8);
    asked["time"] = 3600;  // s, that no busy host takes
    const auto record = answers_to(json::array({asked}))[2];
    EXPECT_EQ(record.at("metric"), "latency");
    EXPECT_EQ(record.at("unit"), "s");
    EXPECT_EQ(record.at("better"), "lower");
    EXPECT_EQ(record.at("stopped_by"), "tolerance");
    EXPECT_GT(record.at("samples").size(), record.at("warmup").get<std::size_t>());
    EXPECT_GE(record.at("batch").get<long>(), 1);
}

// Sixteen ranks' worth of pairs do not exist among two: skipped with its reason, and the next point still
// runs.
TEST(Job, APointThatCannotBeAskedIsSkippedWithItsReason) {
    const json impossible{{"id", 0}, {"benchmark", "corepairs"}, {"point", {{"pair", "0-16"}, {"bytes", 8}}}};
    const auto lines = answers_to(json::array({impossible, ping(1, 8)}));
    EXPECT_EQ(lines[2].at("event"), "skip");
    EXPECT_NE(lines[2].at("reason").get<std::string>().find("0-16"), std::string::npos);
    EXPECT_EQ(lines[5].at("event"), "record");
}

// Words that are not disjoint pairs of the two ranks, however nearly.
TEST(Job, PairsThatShareARankAreSkipped) {
    for (const char* pair :
         {"0-1+1-0", "0-0+0-1", "0-2", "0-", "-1", "", "0-1+", "0-1 ", "0-1+0", "0-99999999999"}) {
        const json point{{"pair", pair}, {"bytes", 8}};
        const auto lines =
            answers_to(json::array({{{"id", 0}, {"benchmark", "rankpairs"}, {"point", point}}}));
        EXPECT_EQ(lines[2].at("event"), "skip") << pair;
    }
}

json jacobi(long id) {
    return {{"id", id},
            {"benchmark", "jacobi"},
            {"point",
             {{"edge", 8},
              {"scaling", "weak"},
              {"grid", "1d"},
              {"ends", "fixed"},
              {"kernel", "streaming"},
              {"depth", 1},
              {"halo", "blocking"}}}};
}

// What a wrong result took is no measurement: it is told with its reason and without numbers, and the next
// point still runs. Here messages are said to bring something and do not.
TEST(Job, AWrongResultIsInvalidAndHasNoNumbers) {
    const auto lines = answers_to(json::array({jacobi(0), ping(1, 8)}), {.fixed = 1e-6, .carries = true});
    EXPECT_EQ(lines[2].at("event"), "invalid");
    EXPECT_TRUE(
        lines[2].at("reason").get<std::string>().starts_with("wrong result on 1 of 1 ranks; rank 0: "))
        << lines[2].at("reason");
    EXPECT_EQ(lines[3].at("event"), "end");
    EXPECT_EQ(lines[5].at("event"), "record");
}

// Where messages bring nothing, no result can be right, and none is verified.
TEST(Job, NothingIsVerifiedWhereMessagesBringNothing) {
    EXPECT_EQ(answers_to(json::array({jacobi(0)}))[2].at("event"), "record");
}

TEST(Job, ARightResultIsARecord) {
    EXPECT_EQ(
        answers_to(json::array({jacobi(0)}), {.size = 1, .fixed = 1e-6, .carries = true})[2].at("event"),
        "record");
}

TEST(Job, TooFewRanksIsAReason) {
    const json point{{"id", 0}, {"benchmark", "congestion"}, {"point", json::object()}};
    const auto lines = answers_to(json::array({point}), {.size = 2, .fixed = 1e-6});
    EXPECT_EQ(lines[2].at("reason"), "needs 4 ranks, there are 2");
}

TEST(Job, WithoutOpenShmemItsOperationsAreSkipped) {
    const json point{
        {"id", 0}, {"benchmark", "roundtrip"}, {"point", {{"operation", "put-shmem"}, {"bytes", 8}}}};
    const auto lines = answers_to(json::array({point}), {.fixed = 1e-6, .shmem = false});
    EXPECT_EQ(lines[2].at("event"), "skip");
}

TEST(Job, AnUnknownBenchmarkIsRefusedByName) {
    try {
        parse_job(R"({"points":[{"id":0,"benchmark":"pingpnog","point":{}}]})");
        FAIL() << "accepted";
    } catch (const std::runtime_error& refused) {
        EXPECT_NE(std::string(refused.what()).find("pingpnog"), std::string::npos);
    }
}

// Where ranks start by a clock, records say how far it may be wrong and how often a rank came late; the mock
// is late for every start.
TEST(Job, ARecordOfAnIsolatedPointHoldsItsClock) {
    json point{
        {"communicator", "world"}, {"form", "blocking"}, {"cadence", "isolated"}, {"algorithm", "library"}};
    const auto asked = [&] {
        const json question{{"id", 0}, {"benchmark", "barrier"}, {"point", point}};
        return answers_to(json::array({question}), {.fixed = 1e-6, .late = 3e-6, .clock_error = 2e-7})[2];
    };
    const json record = asked();
    EXPECT_DOUBLE_EQ(record.at("clock_error"), 2e-7);
    EXPECT_DOUBLE_EQ(record.at("late"), 1);
    EXPECT_DOUBLE_EQ(record.at("late_at"), 3e-6);
    EXPECT_EQ(record.at("batch"), 1);
    point["cadence"] = "back-to-back";
    EXPECT_FALSE(asked().contains("late"));
}

// /dev/full takes nothing: the writer must notice at the first line, not lose answers silently.
TEST(Answers, AFullDiskIsNoticed) {
    Answers answers("/dev/full");
    EXPECT_THROW(answers.write({{"event", "launch"}}), std::runtime_error);
}

TEST(Clock, IsFinerThanAMicrosecond) {
    const auto clock = measure_clock();
    EXPECT_GT(clock.overhead, 0);
    EXPECT_LT(clock.resolution, 1e-6);
}

TEST(Places, DistanceGrowsOutwards) {
    const Place here{
        .host = "a", .boot = "x", .network = "y", .package = 0, .group = 0, .core = 0, .cores = 1};
    Place there = here;
    EXPECT_EQ(distance(here, there), same_group);
    there.group = 1;
    EXPECT_EQ(distance(here, there), same_package);
    there.package = 1;
    EXPECT_EQ(distance(here, there), same_node);
    there.host = "b";
    EXPECT_EQ(distance(here, there), other_node);
}

// A rank that may run anywhere is not next to another that may run anywhere.
TEST(Places, UnboundRanksAreAtNoKnownDistance) {
    const Place floating{.host = "a", .boot = "x", .network = "y", .cores = 16};
    EXPECT_EQ(distance(floating, floating), unknown);
}

}  // namespace
}  // namespace leadline
