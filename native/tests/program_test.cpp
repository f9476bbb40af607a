// The file of a program: what is read is what was written, and what is damaged is refused.
#include "program/file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace leadline::program {
namespace {

// A file in the form of docs/program-format.md, its parts written here by hand.
std::string file_of(const std::string& body, const nlohmann::json& changes) {
    nlohmann::json header = {{"ranks", 2},
                             {"sequences", {{0, body.size() - 24, 3, 1}}},
                             {"rank_sequence", {{0, 2, 0}}},
                             {"stats_columns", {"before_mean"}},
                             {"stats", {{body.size() - 24, 24}}},
                             {"rank_stats", {{0, 2, 0}}},
                             {"communicators", {{{"members", {{0, 2, 1}}}, {"construction", 0}}}},
                             {"body", body.size()},
                             {"crc32", 4158966475U}};
    header.update(changes);
    const std::string text = header.dump();
    return "leadline-program 1\n" + std::to_string(text.size()) + "\n" + text + "\n" + body;
}

// Three turns of: a message of 300 B to the next, one from the last; then a barrier before which 2 s pass.
std::string body_of() {
    std::string body{1,  3,                          // LOOP 3
                     10, 0x0E, 2, '\xD8', 4, 14,     // SEND peer 1, bytes 300, tag 7
                     11, 0x0E, 2, '\xD8', 4, 14, 0,  // RECV the same; END
                     20, 0,    0};                   // BARRIER; END
    const std::array<double, 3> before{0, 0, 2};
    body.append(static_cast<const char*>(static_cast<const void*>(before.data())), sizeof before);
    return body;
}

class ProgramFile : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(path_); }
    Program read_of(const std::string& data) {
        std::ofstream(path_, std::ios::binary) << data;
        return read(path_);
    }
    // The sentence with which a file is refused; empty where it is read.
    std::string refusal_of(const std::string& data) {
        try {
            (void)read_of(data);
        } catch (const std::runtime_error& problem) {
            return problem.what();
        }
        return {};
    }

private:
    std::string path_ =
        std::filesystem::temp_directory_path() / ("leadline-" + std::to_string(::getpid()) + ".program");
};

TEST_F(ProgramFile, HasTheStepsOfItsInstructions) {
    const Program found = read_of(file_of(body_of(), nlohmann::json::object()));
    ASSERT_EQ(found.ranks, 2);
    const Sequence& sequence = found.of(1);
    EXPECT_TRUE(sequence.relative);
    EXPECT_EQ(sequence.leaves, 3U);
    EXPECT_EQ(sequence.executed, 3 * 2 + 1);
    EXPECT_EQ(sequence.largest, 300);
    ASSERT_EQ(sequence.steps.size(), 6U);  // with the loop, its end, and the end
    EXPECT_EQ(sequence.steps[0].kind, Kind::loop);
    EXPECT_EQ(sequence.steps[0].bytes, 3);
    EXPECT_EQ(sequence.steps[1].kind, Kind::send);
    EXPECT_EQ(sequence.steps[1].bytes, 300);
    EXPECT_EQ(sequence.steps[1].tag, 7);
    EXPECT_EQ(sequence.steps[4].kind, Kind::barrier);
    EXPECT_EQ(found.computed(0)[2], 2.0);
}

TEST_F(ProgramFile, IsRefusedWhereverItIsCut) {
    const std::string whole = file_of(body_of(), nlohmann::json::object());
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(refusal_of(whole.substr(0, length)).empty()) << length;
}

TEST_F(ProgramFile, IsRefusedByItsChecksum) {
    std::string whole = file_of(body_of(), nlohmann::json::object());
    whole[whole.size() - 30] ^= 1;
    EXPECT_NE(refusal_of(whole).find("checksum"), std::string::npos);
}

// Its length, then its CRC-32 (zlib's).
TEST_F(ProgramFile, IsRefusedByTheChecksumOfItsHeader) {
    std::string whole = file_of(body_of(), nlohmann::json::object());
    const std::size_t second = whole.find('\n', 19);
    std::string right = whole;
    right.insert(second, " 1777930388");
    EXPECT_EQ(refusal_of(right), "");
    std::string wrong = whole;
    wrong.insert(second, " 1777930389");
    EXPECT_NE(refusal_of(wrong).find("checksum"), std::string::npos);
}

TEST_F(ProgramFile, OfANewerVersionIsRefusedByName) {
    std::string whole = file_of(body_of(), nlohmann::json::object());
    whole.replace(0, 18, "leadline-program 7");
    EXPECT_NE(refusal_of(whole).find("version 7"), std::string::npos);
}

TEST_F(ProgramFile, WhoseHeaderLiesIsRefused) {
    const std::string body = body_of();
    const std::array<nlohmann::json, 8> lies{{{{"ranks", 3}},
                                              {{"ranks", -1}},
                                              {{"rank_sequence", {{0, 2, 1}}}},
                                              {{"rank_sequence", {{0, 1 << 30, 0}}}},
                                              {{"stats", {{0, 8}}}},
                                              {{"sequences", {{0, 99, 3, 1}}}},
                                              {{"communicators", nlohmann::json::array()}},
                                              {{"communicators", {{{"members", {{0, 2, 7}}}}}}}}};
    for (const auto& lie : lies) EXPECT_FALSE(refusal_of(file_of(body, lie)).empty()) << lie;
}

// Any byte may be anything: it is refused, or read as a program that is whole.
// A cast would make two ranks of 2^32 + 2, and what it makes of 1e300 is nobody's to say.
TEST_F(ProgramFile, IsRefusedWhereANumberDoesNotFit) {
    for (const char* key : {"ranks", "body", "crc32"})
        for (const nlohmann::json& number :
             {nlohmann::json(4294967298), nlohmann::json(1e300), nlohmann::json(2.5), nlohmann::json(-1)})
            EXPECT_NE(refusal_of(file_of(body_of(), {{key, number}})), "") << key << ' ' << number;
    for (const std::int64_t number : {std::int64_t{4294967296}, std::numeric_limits<std::int64_t>::max()})
        EXPECT_NE(refusal_of(file_of(body_of(), {{"rank_sequence", {{number, 2, number}}}})), "");
}

TEST_F(ProgramFile, StandsDamageOfEveryByte) {
    const std::string whole = file_of(body_of(), nlohmann::json::object());
    std::mt19937 chance(1);
    for (int turn = 0; turn < 2000; ++turn) {
        std::string damaged = whole;
        damaged[chance() % damaged.size()] = static_cast<char>(chance());
        if (!refusal_of(damaged).empty()) continue;
        const Program found = read_of(damaged);
        EXPECT_EQ(found.ranks, 2);
        EXPECT_EQ(found.of(0).executed, 7);
    }
}

}  // namespace
}  // namespace leadline::program
