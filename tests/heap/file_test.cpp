// COLD over a file on disk. One process configures once, so the whole program runs on it.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "heap/extent.hpp"
#include "heap/heap.hpp"
#include "heap/temporary_directory.hpp"

// Around fork() jemalloc holds all its locks, and ThreadSanitizer's lock-order detector ends the
// process beyond 64 held by a thread. Only that detector is off, and only in this program; races
// are reported. Without the sanitizer nobody calls this.
extern "C" const char* __tsan_default_options() { return "detect_deadlocks=0"; }

namespace isotherm::heap {
namespace {

constexpr std::size_t kObjectBytes = 2000;

class file_backed : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    options chosen;
    chosen.range_bytes = std::size_t{1} << 30;
    chosen.cold = {cold_backing::type::file, directory.path()};
    const auto configured = configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
  }

  void SetUp() override {
    for (std::size_t i = 0; i < 32 * kExtentBytes / kObjectBytes; ++i) {
      void* object = allocate(kind::cold, kObjectBytes);
      ASSERT_NE(object, nullptr);
      std::memset(object, static_cast<int>(i % 255), kObjectBytes);
      objects_.push_back(object);
    }
  }
  void TearDown() override {
    for (void* object : objects_) deallocate(object);
    EXPECT_TRUE(is_valid());
  }

  std::vector<void*> objects_;
};

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

TEST_F(file_backed, closed_extents_leave_dram_and_come_back_with_their_bytes) {
  const std::uint64_t before = usage_of(kind::cold).resident_bytes;
  ASSERT_GE(before, 30 * kExtentBytes);
  const reclaim_report report = reclaim_cold(hint::pageout, kNoLimit);
  EXPECT_EQ(report.problem, "");
  EXPECT_GE(report.bytes_asked, 30 * kExtentBytes);
  EXPECT_LE(usage_of(kind::cold).resident_bytes, 2 * kExtentBytes)
      << "at most the open extent stays";
  for (std::size_t i = 0; i < objects_.size(); i += 97) {
    const auto* at = static_cast<const unsigned char*>(objects_[i]);
    ASSERT_EQ(std::count(at, at + kObjectBytes, i % 255), static_cast<long>(kObjectBytes));
  }
}

TEST_F(file_backed, an_extent_is_asked_for_again_only_when_pages_came_back) {
  reclaim_cold(hint::pageout, kNoLimit);
  EXPECT_EQ(reclaim_cold(hint::pageout, kNoLimit).bytes_asked, 0U);
  static_cast<void>(*static_cast<volatile char*>(objects_[objects_.size() / 2]));
  const reclaim_report again = reclaim_cold(hint::pageout, kNoLimit);
  EXPECT_GT(again.bytes_asked, 0U);
  EXPECT_LE(again.bytes_asked, 4 * 4096U) << "a fault brings its own page, not its neighbours";
}

TEST_F(file_backed, the_limit_holds_and_the_next_call_goes_on) {
  std::uint64_t sum = 0;
  for (int call = 0; call < 4; ++call) {
    const reclaim_report report = reclaim_cold(hint::pageout, 8 * kExtentBytes);
    EXPECT_LE(report.bytes_asked, 8 * kExtentBytes);
    sum += report.bytes_asked;
  }
  EXPECT_GE(sum, 28 * kExtentBytes);
}

TEST_F(file_backed, no_hint_asks_for_nothing) {
  EXPECT_EQ(reclaim_cold(hint::none, kNoLimit).bytes_asked, 0U);
}

TEST_F(file_backed, the_cold_hint_is_given_once) {
  const reclaim_report first = reclaim_cold(hint::cold, kNoLimit);
  EXPECT_EQ(first.problem, "");
  EXPECT_GT(first.bytes_asked, 0U);
  EXPECT_EQ(reclaim_cold(hint::cold, kNoLimit).bytes_asked, 0U);
}

TEST_F(file_backed, freed_extents_leave_the_page_cache) {
  const std::uint64_t before = usage_of(kind::cold).resident_bytes;
  for (void* object : objects_) deallocate(object);
  objects_.clear();
  EXPECT_LE(usage_of(kind::cold).resident_bytes + 30 * kExtentBytes, before);
}

TEST_F(file_backed, a_full_disk_refuses_and_does_not_kill) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{48 * kExtentBytes, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::uint64_t refused = refused_allocations(kind::cold);
  std::vector<void*> filling;
  while (void* object = allocate(kind::cold, 100'000)) {
    std::memset(object, 1, 100'000);
    filling.push_back(object);
    ASSERT_LT(filling.size(), 1000U) << "the limit is never met";
  }
  EXPECT_EQ(refused_allocations(kind::cold), refused + 1);
  EXPECT_TRUE(is_valid());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  void* object = allocate(kind::cold, 100'000);
  EXPECT_NE(object, nullptr) << "space again, service again";
  filling.push_back(object);
  for (void* each : filling) deallocate(each);
}

/// Exit status of `body` run in a fork child.
template <class F>
int in_child(F body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

TEST_F(file_backed, a_fork_child_neither_grows_nor_punches_the_shared_file) {
  const std::uint64_t before = usage_of(kind::cold).resident_bytes;
  const int status = in_child([&] {
    if (allocate(kind::cold, 10) != nullptr) return 1;
    if (allocate(kind::fresh, 10) == nullptr || allocate(kind::hot, 10) == nullptr) return 2;
    for (void* object : objects_) deallocate(object);
    if (reclaim_cold(hint::pageout, kNoLimit).problem.empty()) return 3;
    return 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(usage_of(kind::cold).resident_bytes, before);
  for (std::size_t i = 0; i < objects_.size(); i += 31) {
    EXPECT_EQ(static_cast<unsigned char*>(objects_[i])[0], i % 255);
  }
}

}  // namespace
}  // namespace isotherm::heap
