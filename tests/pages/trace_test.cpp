// Traces of other tools: each kind of line, and whole files with mistakes.
#include "pages/trace/trace_source.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "pages/observe.hpp"

namespace isotherm::pages {
namespace {

class trace_file {
 public:
  explicit trace_file(const std::string& text)
      : path_(testing::TempDir() + "trace-" + std::to_string(::getpid())) {
    std::ofstream(path_) << text;
  }
  ~trace_file() { std::filesystem::remove(path_); }
  trace_file(const trace_file&) = delete;
  trace_file& operator=(const trace_file&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void expect(trace_format format, const char* line, line_meaning meaning, std::uint64_t address = 0,
            std::uint64_t bytes = 0) {
  const trace_line found = parse(format, line);
  EXPECT_EQ(found.meaning, meaning) << line;
  EXPECT_EQ(found.address, address) << line;
  EXPECT_EQ(found.bytes, bytes) << line;
}

TEST(TraceLine, OfLackey) {
  const auto lackey = trace_format::lackey;
  expect(lackey, "I  04001090,3", line_meaning::fetch, 0x4001090, 3);
  expect(lackey, " S 1ffefffe98,8", line_meaning::access, 0x1ffefffe98, 8);
  expect(lackey, " L 04222c30,1\r", line_meaning::access, 0x4222c30, 1);
  expect(lackey, " M 0421d000,16", line_meaning::access, 0x421d000, 16);
  expect(lackey, "==77== Lackey, an example Valgrind tool", line_meaning::other);
  expect(lackey, "", line_meaning::other);
  for (const char* const bad : {" S 1ffefffe98", " S ,8", " S 12g4,8", " S 1234,", " S 1234,0",
                                " S 1234,65537", " X 1234,8", "S 1234,8", " S 1234,8 ",
                                " S ffffffffff600000,8", " S 10000000000000000,8", "I  "}) {
    expect(lackey, bad, line_meaning::malformed);
  }
}

TEST(TraceLine, OfDrmemtrace) {
  const auto view = trace_format::drmemtrace;
  expect(view, "  10  1:  77 ifetch       3 byte(s) @ 0x0000000004001000 non-branch",
         line_meaning::fetch, 0x4001000, 3);
  expect(view, "  11  1:  77 write        8 byte(s) @ 0x00007fff60b10000 by PC 0x0000000004001000",
         line_meaning::access, 0x7fff60b10000, 8);
  expect(view, "T77 read  64 byte(s) @ 0x1040 by PC 0x1000", line_meaning::access, 0x1040, 64);
  expect(view, "  12  1:  77 prefetcht0   8 byte(s) @ 0x0000000000001040 by PC 0x1000",
         line_meaning::other);
  expect(view, "   1  0:  77 <marker: version 3>", line_meaning::other);
  expect(view, "Output format:", line_meaning::other);
  expect(view, "--------------", line_meaning::other);
  expect(view, "      2 : total instructions", line_meaning::other);
  for (const char* const bad :
       {"write byte(s) @ 0x10", "write 8 byte(s) @ ", "write 8 byte(s) @ 0xzz", "byte(s) @ 0x10",
        "write x byte(s) @ 0x10", "nonsense"}) {
    expect(view, bad, line_meaning::malformed);
  }
}

base::result<observation> observed(const std::string& text, const schedule& times = {}) {
  const trace_file file(text);
  auto source = trace_source::open(file.path(), {});
  if (!source) return std::unexpected(source.error());
  return observe(*source, times, {}, {});
}

TEST(Trace, AgreesToTheByte) {
  const auto seen = observed("I  00401000,5\n S 00001ffc,8\n L 00001ffe,2\n M 00003000,1\n");
  ASSERT_TRUE(seen) << seen.error().message;
  ASSERT_EQ(seen->windows.size(), 1U);
  const window_report& w = seen->windows.front();
  EXPECT_EQ(w.accesses, 3U);
  EXPECT_EQ(w.all.used, 5U + 8 + 1);
  EXPECT_EQ(w.all.touched, 4U * 4096);
  EXPECT_EQ(w.all.lines, 4U * 64);
  EXPECT_TRUE(seen->remarks.empty());
}

TEST(Trace, CountsMistakesAndNamesTheFirst) {
  const auto seen = observed("==1== Lackey\n S 1000,8\nnonsense\n S 2000\n S 3000,4");
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->windows.front().all.used, 12U);
  ASSERT_EQ(seen->remarks.size(), 1U);
  EXPECT_EQ(seen->remarks.front(),
            "2 of 5 lines of the trace could not be read; the first is line 3.");
}

TEST(Trace, SplitsIntoWindows) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += " S " + std::to_string(1000 + i * 1000) + ",1\n";
  schedule times;
  times.skip.accesses = 2;
  times.length.accesses = 4;
  auto seen = observed(text, times);
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->windows.size(), 2U);
  EXPECT_EQ(seen->windows[0].all.used, 4U);
  EXPECT_EQ(seen->windows[1].accesses, 4U);
  times.windows = 1;
  seen = observed(text, times);
  EXPECT_EQ(seen->windows.size(), 1U);
  times.skip.accesses = 100;
  seen = observed(text, times);
  EXPECT_TRUE(seen->windows.empty());
  times.skip = {.accesses = std::nullopt, .seconds = 1.0};
  EXPECT_FALSE(observed(text, times));
}

TEST(Trace, KeepsACutThatComesBetweenWindows) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += " S 1000,1\n";
  const trace_file file(text);
  auto source = trace_source::open(file.path(), {});
  ASSERT_TRUE(source);
  base::atomic<std::uint64_t> cuts;
  schedule times;
  times.length.accesses = 3000;
  requests asked;
  asked.cuts = &cuts;
  const auto seen = observe(*source, times, asked, [&](const window_report&) {
    if (cuts.load_relaxed() == 0) cuts.fetch_add_relaxed(1);
  });
  ASSERT_TRUE(seen);
  ASSERT_GT(seen->windows.size(), 2U);
  EXPECT_EQ(seen->windows[0].accesses, 3000U);
  EXPECT_LT(seen->windows[1].accesses, 3000U);
  EXPECT_EQ(seen->windows[2].accesses, 3000U);
}

TEST(Trace, RefusesOtherFiles) {
  EXPECT_FALSE(observed(""));
  EXPECT_FALSE(observed("root:x:0:0\n"));
  EXPECT_FALSE(observed(std::string(3 << 20, 'x')));
  EXPECT_FALSE(trace_source::open("/nonexistent", {}));
  EXPECT_FALSE(trace_source::open("/tmp", {}));
}

TEST(Trace, ReadsLinesAcrossItsBuffer) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += " S 12345678,8\n";
  const auto seen = observed(text);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->windows.front().accesses, 200'000U);
  EXPECT_TRUE(seen->remarks.empty());
}

}  // namespace
}  // namespace isotherm::pages
