// The readers of settings: what they take, what they refuse, and that no damaged file hurts them.
#include <gtest/gtest.h>

#include <random>
#include <string>

extern "C" {
#include "h5tuner/settings.h"
#include "h5tuner/stripes.h"
}

namespace {

const std::string PAPER = R"(<?xml version="1.0"?>
<Parameters>
  <High_Level_IO_Library>
    <alignment> 0, 65536 </alignment>
  </High_Level_IO_Library>
  <Middleware_Layer>
    <cb_buffer_size> 1048576 </cb_buffer_size> <!-- bytes -->
    <cb_nodes> 32 </cb_nodes>
  </Middleware_Layer>
  <Parallel_File_System>
    <striping_factor FileName="sample_dataset.h5part"> 4 </striping_factor>
    <striping_factor> 16 </striping_factor>
    <striping_unit> 65536 </striping_unit>
  </Parallel_File_System>
</Parameters>
)";

const std::string SAME = R"(# the same
[hdf5]
alignment = [0, 65_536]
[mpi-io]
cb_buffer_size = 1048576
cb_nodes = 32
[file-system]
striping_factor = 16
striping_unit = 65536
[[match]]
file-system.striping_factor = 4
file = "sample_dataset.h5part"
)";

struct Read {
    ll_settings held = {};
    bool good;
    explicit Read(const std::string& text) : good(ll_parse(text.data(), text.size(), &held)) {}
    [[nodiscard]] std::string value(const char* name, const char* file, const char* dataset = nullptr) const {
        const ll_setting* found = ll_wanted(&held, name, file, dataset);
        return found == nullptr ? "" : found->value;
    }
};

std::string refusal(const std::string& text) {
    const Read read(text);
    EXPECT_FALSE(read.good) << text;
    EXPECT_EQ(read.held.count, 0);
    return read.held.problem;
}

TEST(Settings, BothFormsSayTheSame) {
    for (const auto& text : {PAPER, SAME}) {
        const Read read(text);
        ASSERT_TRUE(read.good) << read.held.problem;
        EXPECT_EQ(read.held.count, 6);
        EXPECT_EQ(read.value("alignment", "a.h5"), "0,65536");
        EXPECT_EQ(read.value("cb_nodes", "a.h5"), "32");
        EXPECT_EQ(read.value("striping_factor", "a.h5"), "16");
        EXPECT_EQ(read.value("striping_factor", "/scratch/sample_dataset.h5part"), "4");
        EXPECT_EQ(read.value("chunk", "a.h5"), "");
    }
}

TEST(Settings, TheNarrowerHoldsThenTheLater) {
    const Read read(
        "[hdf5]\nchunk = [1]\n[[match]]\ndataset = \"/x*\"\nhdf5.chunk = [2]\n"
        "[[match]]\nfile = \"*.h5\"\nhdf5.chunk = [3]\n[[match]]\nfile = \"b*\"\nhdf5.chunk = [4]\n");
    ASSERT_TRUE(read.good) << read.held.problem;
    EXPECT_EQ(read.value("chunk", "a.nc", "/y"), "1");
    EXPECT_EQ(read.value("chunk", "a.nc", "/x1"), "2");
    EXPECT_EQ(read.value("chunk", "a.h5", "/x1"), "2");
    EXPECT_EQ(read.value("chunk", "a.h5", "/y"), "3");
    EXPECT_EQ(read.value("chunk", "dir/b.h5", "/y"), "4");
}

TEST(Settings, WhatIsRefusedIsToldWithItsLine) {
    EXPECT_EQ(refusal("[hdf5]\nalignmant = [1, 2]\n"), "line 2: unknown setting 'alignmant' of hdf5");
    EXPECT_EQ(refusal("[hdf5]\nalignment = [1]\n"), "line 2: alignment wants 2 integers, got '1'");
    EXPECT_EQ(refusal("[hdf5]\nalignment = [1, -2]\n"), "line 2: alignment must be 0 to 268435456, got -2");
    EXPECT_EQ(refusal("[hdf5]\nfill_time = \"nevr\"\n"),
              "line 2: fill_time wants one of alloc|never|ifset, got 'nevr'");
    EXPECT_EQ(refusal("[hdf5]\nchunk_cache_w0 = 1.5\n"), "line 2: chunk_cache_w0 must be 0 to 1, got '1.5'");
    EXPECT_EQ(refusal("[mpi-io]\ncb_nodes = 99999999999999999999\n"),
              "line 2: cb_nodes wants an integer, got '99999999999999999999'");
    EXPECT_EQ(refusal("cb_nodes = 1\n"),
              "line 1: 'cb_nodes' stands in no table; begin with [hdf5], [mpi-io] or [file-system]");
    EXPECT_EQ(refusal("<Parameters><Middleware_Layer><cb_nodes>1</cb_node>"),
              "line 1: </cb_node> where </cb_nodes> is due");
    EXPECT_EQ(refusal("<Parameters>\n<Layer/></Parameters>"),
              "line 2: unknown layer <Layer>; known are: High_Level_IO_Library, Middleware_Layer, "
              "Parallel_File_System");
    EXPECT_NE(refusal("<Parameters>").find("is not closed"), std::string::npos);
}

// Values with which HDF5 would fail to write, or fill a disk; and the same said twice.
TEST(Settings, WhatNoProgramCanMeanIsRefused) {
    for (const char* word :
         {"meta_block_size", "small_data_block_size", "sieve_buf_size", "chunk_cache_bytes",
          "page_buffer_size", "subfiling_stripe_size", "file_space_page_size"})
        EXPECT_NE(refusal("[hdf5]\n" + std::string(word) + " = 9223372036854775807\n").find(word),
                  std::string::npos);
    EXPECT_NE(refusal("[hdf5]\nalignment = [1, 1_099_511_627_776]\n").find("alignment"), std::string::npos);
    EXPECT_NE(refusal("[mpi-io]\ncb_buffer_size = 2147483647\n").find("cb_buffer_size"), std::string::npos);
    EXPECT_EQ(Read("[hdf5]\nalignment = [16384, 33554432]\nmeta_block_size = 1048576\n").held.count, 2);
    for (const std::string twice :
         {"[hdf5]\nmeta_block_size = 1\nmeta_block_size = 1\n", "[hdf5]\nchunk = [1]\n[mpi-io]\n[hdf5]\n",
          "[mpi-io]\ncb_nodes = 1\n[file-system]\ncb_nodes = 2\n", "[[match]]\nfile = 'a'\nfile = 'b'\n",
          "[[match]]\nhdf5.chunk = [1]\nfile = 'a'\nhdf5.chunk = [2]\n"})
        EXPECT_EQ(refusal(twice).find("line "), 0U) << twice;
    EXPECT_EQ(Read("[hdf5]\nchunk = [1]\n[[match]]\nfile = 'a'\nhdf5.chunk = [2]\n"
                   "[[match]]\nfile = 'b'\nhdf5.chunk = [2]\n")
                  .held.count,
              3);
}

TEST(Settings, HostileFilesAreRefused) {
    EXPECT_EQ(refusal(R"(<!DOCTYPE a [<!ENTITY b "&b;&b;">]><Parameters/>)"),
              "line 1: document types and entities are not taken");
    EXPECT_EQ(refusal("<Parameters><Middleware_Layer><cb_nodes>&b;</cb_nodes>"),
              "line 1: only the entities lt, gt, amp, quot and apos are known");
    EXPECT_EQ(refusal(std::string(LL_FILE_SIZE + 1, ' ')), "more than 65536 bytes");
    EXPECT_EQ(refusal(std::string("[hdf5]\0", 7)), "it holds a zero byte, so it is no text");
    EXPECT_EQ(refusal("[hdf5]\nalloc_time = \"" + std::string(300, 'a') + "\"\n"),
              "line 2: a value of more than 255 characters");
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += "<Parameters>";
    EXPECT_FALSE(refusal(deep).empty());
    std::string many;
    for (int i = 0; i < 300; ++i)
        many += "[[match]]\nfile = 'f" + std::to_string(i) + "'\nmpi-io.cb_nodes = 1\n";
    EXPECT_EQ(refusal(many), "line 771: more than 256 settings");
}

// Bytes changed, cut and doubled at random: whatever comes of it, nothing is read or written out of bounds
// (this is run under sanitizers), and what is good stays within its limits.
TEST(Settings, NoDamageHurts) {
    std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same every time
    const std::string marks = "<>&;/=\"'[]#.,\n\\!-? 0a";
    int good = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        std::string text = trial % 2 == 0 ? PAPER : SAME;
        for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0: text[at] = static_cast<char>(random()); break;
                case 1: text[at] = marks[random() % marks.size()]; break;
                case 2: text.erase(at, random() % 40 + 1); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 100)); break;
            }
            if (text.empty()) text = " ";
        }
        const Read read(text);
        good += static_cast<int>(read.good);
        EXPECT_EQ(read.good, read.held.problem[0] == '\0');
        EXPECT_LE(read.held.count, LL_SETTINGS);
    }
    EXPECT_GT(good, 0);
}

TEST(Stripes, AreReadFromTheFileSystemsAttributes) {
    unsigned char lustre[48] = {0xd0, 0x0b, 0xd1, 0x0b};
    lustre[26] = 0x10;  // 1 MiB
    lustre[28] = 4;
    ll_stripes found = {};
    ASSERT_TRUE(ll_lustre_stripes(lustre, sizeof lustre, &found));
    EXPECT_EQ(found.size, 1U << 20);
    EXPECT_EQ(found.count, 4U);
    EXPECT_FALSE(ll_lustre_stripes(lustre, 8, &found));
    lustre[0] = 0;
    EXPECT_FALSE(ll_lustre_stripes(lustre, sizeof lustre, &found));
    ASSERT_TRUE(ll_ceph_stripes("stripe_unit=4194304 stripe_count=2 object_size=4194304 pool=d", &found));
    EXPECT_EQ(found.size, 4194304U);
    EXPECT_EQ(found.count, 2U);
    EXPECT_FALSE(ll_ceph_stripes("", &found));
}

TEST(Stripes, AreSaidInTheWordsOfCephFs) {
    const char* now = "stripe_unit=1048576 stripe_count=1 object_size=4194304 pool=d";
    std::string layout(200, 'x');
    const auto said = [&](uint64_t count, uint64_t unit) {
        const ll_stripes wanted = {count, unit};
        if (!ll_ceph_layout(now, &wanted, layout.data(), layout.size())) return std::string("none");
        return layout.substr(0, layout.find('\0'));
    };
    EXPECT_EQ(said(2, 0), "stripe_unit=1048576 stripe_count=2 object_size=4194304");
    EXPECT_EQ(said(0, 65536), "stripe_unit=65536 stripe_count=1 object_size=4194304");
    EXPECT_EQ(said(3, 3 << 20), "stripe_unit=3145728 stripe_count=3 object_size=6291456");
    EXPECT_EQ(said(1, UINT64_MAX), "none");
    layout.resize(20);
    EXPECT_EQ(said(2, 0), "none");
    now = "pool=d";
    EXPECT_EQ(said(2, 0), "none");
}

}  // namespace
