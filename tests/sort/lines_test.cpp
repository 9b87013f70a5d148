// Lines against the system's sort in the C locale.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "base/random.hpp"
#include "os/faults.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;

std::string make_lines(unsigned seed, std::size_t n, bool final_newline) {
  base::random random(seed);
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    if (random.below(3) == 0) all += "https://example.org/a/common/prefix/";
    for (std::uint64_t c = random.below(12); c > 0; --c) {
      constexpr char kAlphabet[] = {'a', 'b', '\t', '\xff', ' ', 'Z', '.', '\0'};
      all += kAlphabet[random.below(sizeof kAlphabet)];
    }
    if (i == n / 2) all += std::string(600'000, 'q');
    if (i + 1 < n || final_newline) all += '\n';
  }
  return all;
}

TEST(Lines, ComeOutAsTheSystemsSortHasThem) {
  const scratch dir;
  struct variant {
    std::string flags;
    sort_options options;
  };
  const auto lines = [](sort_options o) {
    o.format = record_format::lines;
    o.separator = '\t';
    o.memory_bytes = 64 << 20;
    o.durable = false;  // many sorts: no wait for the disk
    return o;
  };
  const variant variants[] = {
      {"", lines({})},
      {"-r", lines({.reverse = true})},
      {"-u", lines({.unique = true})},
      {"-t '\t' -k 2", lines({.keys = {{.first_field = 2}}})},
      {"-t '\t' -k 2 -s", lines({.keys = {{.first_field = 2}}, .stable = true})},
      {"-t '\t' -k 3 -r", lines({.keys = {{.first_field = 3, .reverse = true}}, .reverse = true})},
      {"-t '\t' -k 2 -u", lines({.keys = {{.first_field = 2}}, .unique = true})},
  };
  for (const unsigned seed : {1u, 2u}) {
    for (const bool newline : {true, false}) {
      for (const std::size_t n : {0, 1, 2, 5000}) {
        testing::store(dir.file("in"), make_lines(seed, n, newline));
        for (const auto& v : variants) {
          const std::string command =
              "LC_ALL=C sort " + v.flags + " -o " + dir.file("expected") + " " + dir.file("in");
          ASSERT_EQ(std::system(command.c_str()), 0);
          for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
            sort_options o = v.options;
            o.algorithm = a;
            o.check = true;
            auto r = sort_file(dir.file("in"), dir.file("out"), o);
            ASSERT_TRUE(r) << r.error().message << " flags " << v.flags << " n " << n;
            EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected")))
                << "seed " << seed << " flags " << v.flags << " n " << n << " newline " << newline;
          }
        }
      }
    }
  }
}

// The lines begin alike, as in logs: the index map's first bytes tell nothing. Read by calls.
class AlikeLines : public ::testing::Test {
 protected:
  void SetUp() override {
    base::random random(4);
    std::string all;
    for (int i = 0; i < 50'000; ++i) {
      all += std::string(300, 'p') + std::to_string(10'000'000 + random.below(80'000'000)) + "\n";
    }
    testing::store(dir_.file("in"), all);
  }
  void TearDown() override { os::set_fault_hook({}); }
  base::result<sort_report> sort() {
    reads_ = 0;
    os::set_fault_hook([&](os::io_call c) {
      reads_ += c == os::io_call::read && sorting_;
      if (c == os::io_call::read && sorting_) {
        const std::lock_guard guard(lock_);
        readers_.insert(std::this_thread::get_id());
      }
      if (c == os::io_call::read && sorting_ && stop_at_first_) stop_.request_stop();
      return 0;
    });
    const sort_options o{.format = record_format::lines,
                         .top = 1000,
                         .memory_bytes = 32 << 20,
                         .algorithm = sort_algorithm::mergepass,
                         .sort_threads = sort_threads_,
                         .durable = false,
                         .progress = [&](sort_stage s, std::uint64_t,
                                         std::uint64_t) { sorting_ = s == sort_stage::run_sort; },
                         .stop = stop_.get_token()};
    auto r = sort_file(dir_.file("in"), dir_.file("out"), o);
    os::set_fault_hook({});
    return r;
  }
  scratch dir_;
  std::atomic<bool> sorting_{false};
  std::atomic<std::uint64_t> reads_{0};
  std::mutex lock_;  // guards readers_
  std::set<std::thread::id> readers_;
  unsigned sort_threads_ = 1;
  bool stop_at_first_ = false;
  std::stop_source stop_;
};

TEST_F(AlikeLines, AreToldApartByFewReads) {
  auto r = sort();
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_GT(reads_.load(), 0u);
  EXPECT_LT(reads_.load(), 5000u);  // one for ten lines
  const std::string command =
      "LC_ALL=C sort " + dir_.file("in") + " 2>/dev/null | head -1000 > " + dir_.file("expected");
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_TRUE(contents(dir_.file("out")) == contents(dir_.file("expected")));
}

TEST_F(AlikeLines, AreLeftSoonAfterAnInterrupt) {
  stop_at_first_ = true;
  auto r = sort();
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, EINTR);
  EXPECT_LT(reads_.load(), 20u);
  EXPECT_EQ(dir_.entries(), 1u);
}

// They are one group of equal first bytes: its parts are read side by side.
TEST_F(AlikeLines, AreToldApartByAllThreads) {
  sort_threads_ = 3;
  auto r = sort();
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(readers_.size(), 3u);
}

// A key that comes again is left out of the run, before it is written and merged.
TEST(UniqueLines, RunsHoldEachKeyOnce) {
  const scratch dir;
  constexpr std::uint64_t kKeys = 500;
  base::random random(6);
  std::string all;
  for (int i = 0; i < 400'000; ++i) {
    all += "https://example.org/" + std::to_string(random.below(kKeys)) + "\n";
  }
  testing::store(dir.file("in"), all);
  const std::string command = "LC_ALL=C sort -u -o " + dir.file("expected") + " " + dir.file("in");
  ASSERT_EQ(std::system(command.c_str()), 0);
  for (const auto a : {sort_algorithm::automatic, sort_algorithm::mergepass}) {
    const sort_options o{.format = record_format::lines,
                         .unique = true,
                         .memory_bytes = 32 << 20,
                         .algorithm = a,
                         .check = true};
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_LE(r->index_map_bytes, r->runs * kKeys * 16) << "seed 6";
    EXPECT_EQ(r->records_written, kKeys) << "seed 6";
    EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected"))) << "seed 6";
  }
}

// Longer than the buffers, and than the 16 MiB that an entry can tell.
TEST(Lines, OfManyMebibytesComeOutLikewise) {
  const scratch dir;
  const std::string long_line((std::size_t{16} << 20) + 77, 'x');
  const std::string middle(300'000, 'x');
  testing::store(dir.file("in"), long_line + "b\tz\n" + middle + "\ty\n\n" + long_line + "a\n" +
                                     middle + "\t" + long_line + "\nshort\n" + long_line);
  for (const auto& [flags, field] : {std::pair{"", 1u}, std::pair{"-t '\t' -k 2", 2u}}) {
    const std::string command = std::string("LC_ALL=C sort ") + flags + " -o " +
                                dir.file("expected") + " " + dir.file("in");
    ASSERT_EQ(std::system(command.c_str()), 0);
    for (const std::uint64_t memory : {64 << 20, 512 << 20}) {
      for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
        const sort_options o{.format = record_format::lines,
                             .separator = '\t',
                             .keys = {{.first_field = field}},
                             .memory_bytes = memory,
                             .algorithm = a,
                             .durable = false,
                             .check = true};
        auto r = sort_file(dir.file("in"), dir.file("out"), o);
        ASSERT_TRUE(r) << r.error().message;
        EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected")))
            << "flags " << flags << " memory " << memory;
      }
    }
  }
}

}  // namespace
}  // namespace isotherm
