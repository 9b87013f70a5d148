// Sorts that are refused before they begin: bad requests, too little space, an output that is the
// input.
#include <isotherm/sort.hpp>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>

#include "lab/records/gensort.hpp"
#include "os/faults.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMemory = 32 << 20;

class Refusal : public ::testing::Test {
 protected:
  void SetUp() override {
    store(dir_.file("in"), std::string(1000, 'x'));
    store(dir_.file("old"), "precious");
  }
  /// The message of a sort that must not succeed, must name no second line, and leave all as it
  /// was.
  std::string message(const std::string& in, const std::string& out, const sort_options& o) {
    const std::size_t before = dir_.entries();
    auto r = sort_file(in, out, o);
    EXPECT_EQ(dir_.entries(), before);
    EXPECT_EQ(contents(dir_.file("old")), "precious");
    EXPECT_FALSE(r);
    if (r) return "accepted";
    EXPECT_EQ(r.error().message.find('\n'), std::string::npos);
    return r.error().message;
  }
  std::string message(const sort_options& o) {
    return message(dir_.file("in"), dir_.file("old"), o);
  }
  scratch dir_;
};

using ::testing::HasSubstr;

TEST_F(Refusal, OfOptionsThatDoNotFit) {
  EXPECT_THAT(message({.record_bytes = 300}), HasSubstr("no multiple of the record of 300"));
  EXPECT_THAT(message({.record_bytes = 50, .key_bytes = 51}), HasSubstr("beyond the record"));
  EXPECT_THAT(message({.record_bytes = 50, .key_bytes = 10, .key_offset = 41}),
              HasSubstr("beyond the record"));
  EXPECT_THAT(message({.record_bytes = 50, .key_offset = ~std::uint64_t{0} - 3}),
              HasSubstr("beyond the record"));
  EXPECT_THAT(message({.key_bytes = 0}), HasSubstr("at least one byte"));
  EXPECT_THAT(message({.record_bytes = 0}), HasSubstr("at least one byte"));
  EXPECT_THAT(message({.memory_bytes = 1000}), HasSubstr("too little"));
  EXPECT_THAT(message({.device = "emu:tape"}), HasSubstr("choose pmem"));
  EXPECT_THAT(message({.device = dir_.file("no_profile")}), HasSubstr("isotherm device probe"));
}

TEST_F(Refusal, OfOptionsForOtherFormats) {
  EXPECT_THAT(message({.keys = {{.first_field = 2}}}), HasSubstr("-k is for lines"));
  EXPECT_THAT(message({.format = record_format::klv, .keys = {{.first_field = 2}}}),
              HasSubstr("-k is for lines"));
  EXPECT_THAT(message({.separator = ' '}), HasSubstr("-t is for lines"));
  EXPECT_THAT(message({.format = record_format::klv, .line_end = '\0'}), HasSubstr("-z is for"));
  EXPECT_THAT(message({.format = record_format::klv, .key_offset = 1}), HasSubstr("--key-offset"));
  EXPECT_THAT(message({.format = record_format::lines, .key_offset = 1}),
              HasSubstr("--key-offset"));
  EXPECT_THAT(message({.format = record_format::lines, .key_bytes = 9}), HasSubstr("--key-size"));
}

TEST_F(Refusal, OfAStableSampleSort) {
  EXPECT_THAT(message({.stable = true, .algorithm = sort_algorithm::samplesort}),
              HasSubstr("--stable"));
}

// The size may stay as it is.
TEST_F(Refusal, OfAnInputThatIsWrittenToMeanwhile) {
  const std::string in = dir_.file("in");
  sort_options o{.memory_bytes = kMemory};
  o.progress = [&, done = false](sort_stage stage, std::uint64_t, std::uint64_t) mutable {
    if (stage != sort_stage::run_sort || done) return;
    done = true;
    std::filesystem::last_write_time(
        in, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  };
  store(in, std::string(100, 'b') + std::string(100, 'a') + std::string(100, 'c'));
  EXPECT_THAT(message(o), HasSubstr("changed while it was read"));
}

// Nor need the time at which the contents were modified.
TEST_F(Refusal, OfAnInputThatIsWrittenToUnderItsOldTime) {
  const std::string in = dir_.file("in");
  store(in, std::string(100, 'b') + std::string(100, 'a') + std::string(100, 'c'));
  const auto written = std::filesystem::last_write_time(in);
  struct stat before;
  struct stat now;
  ASSERT_EQ(::stat(in.c_str(), &before), 0);
  sort_options o{.memory_bytes = kMemory};
  o.progress = [&, done = false](sort_stage stage, std::uint64_t, std::uint64_t) mutable {
    if (stage != sort_stage::run_sort || done) return;
    done = true;
    do {  // the file system's clock ticks some hundred times a second
      store(in, std::string(100, 'x') + std::string(100, 'y') + std::string(100, 'z'));
      std::filesystem::last_write_time(in, written);
      ASSERT_EQ(::stat(in.c_str(), &now), 0);
    } while (now.st_ctim.tv_nsec == before.st_ctim.tv_nsec &&
             now.st_ctim.tv_sec == before.st_ctim.tv_sec);
  };
  EXPECT_THAT(message(o), HasSubstr("changed while it was read"));
}

TEST_F(Refusal, OfFilesThatAreNotThereOrNoFiles) {
  const std::string out = dir_.file("new");
  EXPECT_THAT(message(dir_.file("none"), out, {}), HasSubstr("No such file"));
  EXPECT_THAT(message(dir_.path(), out, {}), HasSubstr("not a regular file"));
  EXPECT_THAT(message(dir_.file("in"), dir_.path(), {}), HasSubstr("not a regular file"));
  EXPECT_THAT(message(dir_.file("in"), dir_.file("no/such/dir/out"), {}),
              HasSubstr("No such file"));
  EXPECT_THAT(
      message(dir_.file("in"), out,
              {.temporary_directory = dir_.file("no_tmp"), .algorithm = sort_algorithm::mergepass}),
      HasSubstr("no_tmp"));
}

TEST_F(Refusal, OfDirectoriesThatMayNotBeWritten) {
  // By the seam, as root may write everywhere.
  int stats = 0;
  for (const int code : {EACCES, EROFS}) {
    os::set_fault_hook([&](os::io_call c) { return c == os::io_call::create ? code : 0; });
    EXPECT_THAT(message(dir_.file("in"), dir_.file("new"), {}), HasSubstr("name another place"));
    stats = 0;
    os::set_fault_hook(
        [&](os::io_call c) { return c == os::io_call::stat && ++stats == 4 ? code : 0; });
    EXPECT_THAT(message(dir_.file("in"), dir_.file("new"), {}), HasSubstr("name another place"));
  }
  os::set_fault_hook({});
  EXPECT_EQ(stats, 4);
}

struct space_case {
  std::string input;
  sort_options options;
  std::uint64_t output_bytes;  // that the input of 10,000 bytes may give
  std::uint64_t run_bytes;
};

TEST(Space, IsCheckedBeforeTheFirstByteIsWritten) {
  const scratch dir;
  std::string klv;
  for (int i = 0; i < 100; ++i)
    klv += "0123456789" + std::string("\x56\0\0\0", 4) + std::string(86, 'v');
  std::string lines;
  for (int i = 0; i < 100; ++i) lines += std::string(99, 'a') + '\n';
  store(dir.file("fixed"), std::string(10000, 'x'));
  store(dir.file("klv"), klv);
  store(dir.file("lines"), lines);
  using enum sort_algorithm;
  const space_case cases[] = {
      {"fixed", {}, 10000, 0},
      {"fixed", {.algorithm = mergepass}, 10000, 1500},
      {"fixed", {.algorithm = ems}, 10000, 10000},
      {"fixed", {.unique = true}, 10000, 0},
      {"fixed", {.top = 7}, 700, 0},
      {"fixed", {.count = true}, 1800, 0},
      {"fixed", {.top = 7, .count = true}, 126, 0},
      {"klv", {.format = record_format::klv}, 10000, 0},
      {"klv", {.format = record_format::klv, .algorithm = mergepass}, 10000, 1600},
      {"klv", {.format = record_format::klv, .unique = true}, 10000, 0},
      {"klv", {.format = record_format::klv, .top = 7}, 700, 0},
      {"klv", {.format = record_format::klv, .count = true}, 1800, 0},
      {"lines", {.format = record_format::lines}, 10000, 0},
      {"lines",
       {.format = record_format::lines, .unique = true, .algorithm = mergepass},
       10000,
       1600},
      {"lines", {.format = record_format::lines, .top = 7}, 700, 0},
      {"lines", {.format = record_format::lines, .count = true}, 10200, 0},
  };
  for (const auto& c : cases) {
    sort_options o = c.options;
    o.memory_bytes = kMemory;
    const auto with = [&](std::uint64_t free) {
      os::set_free_space(free);
      auto r = sort_file(dir.file(c.input), dir.file("out"), o);
      os::set_free_space({});
      return r;
    };
    const std::uint64_t all = c.output_bytes + c.run_bytes;  // one file system holds both
    auto r = with(all - 1);
    ASSERT_FALSE(r) << c.input;
    EXPECT_THAT(r.error().message, HasSubstr("no space"));
    EXPECT_THAT(r.error().message,
                HasSubstr(std::to_string(c.run_bytes == 0 ? c.output_bytes : c.run_bytes)));
    EXPECT_FALSE(std::filesystem::exists(dir.file("out")));
    r = with(all);
    EXPECT_TRUE(r) << c.input << ": " << r.error().message;
    std::filesystem::remove(dir.file("out"));
  }
  os::set_free_space(999);
  EXPECT_FALSE(lab::gensort_file(dir.file("out"), {.count = 10}));
  os::set_free_space({});
  EXPECT_EQ(dir.entries(), 3u);
}

TEST(Output, ReplacesWhatASymbolicLinkPointsTo) {
  const scratch dir;
  store(dir.file("in"), std::string(100, 'b') + std::string(100, 'a'));
  std::filesystem::create_directory(dir.file("elsewhere"));
  store(dir.file("elsewhere/real"), "old");
  std::filesystem::create_symlink("elsewhere/real", dir.file("out"));
  ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), {.memory_bytes = kMemory}));
  EXPECT_TRUE(std::filesystem::is_symlink(dir.file("out")));
  EXPECT_EQ(contents(dir.file("elsewhere/real")), std::string(100, 'a') + std::string(100, 'b'));
}

TEST(Output, IsWhereADanglingLinkLeads) {
  const scratch dir;
  store(dir.file("in"), std::string(100, 'b') + std::string(100, 'a'));
  std::filesystem::create_directory(dir.file("elsewhere"));
  std::filesystem::create_symlink("elsewhere/real", dir.file("out"));
  ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), {.memory_bytes = kMemory}));
  EXPECT_TRUE(std::filesystem::is_symlink(dir.file("out")));
  EXPECT_EQ(contents(dir.file("elsewhere/real")), std::string(100, 'a') + std::string(100, 'b'));
}

TEST(Output, HasATemporaryNameWhereFilesWithoutNamesAreUnknown) {
  const scratch dir;
  store(dir.file("in"), std::string(100, 'b') + std::string(100, 'a'));
  for (const bool fails : {false, true}) {
    int creates = 0;
    std::atomic<std::size_t> seen{0};  // several threads write
    os::set_fault_hook([&](os::io_call c) {
      if (c == os::io_call::write) seen = dir.entries();
      if (c == os::io_call::rename && fails) return EIO;
      return c == os::io_call::create && ++creates == 1 ? EOPNOTSUPP : 0;
    });
    auto r = sort_file(dir.file("in"), dir.file("out"), {.memory_bytes = kMemory});
    os::set_fault_hook({});
    EXPECT_EQ(r.has_value(), !fails);
    EXPECT_EQ(seen.load(),
              fails ? 3u : 2u);  // the input, the temporary, and at last the first output
    EXPECT_EQ(dir.entries(), 2u);
  }
}

}  // namespace
}  // namespace isotherm
