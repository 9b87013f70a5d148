// Threads use objects while the collector waits for the disk. A program of its own, since heaps are
// configured once.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "collector/collector.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"

namespace isotherm::collector {
namespace {

constexpr std::size_t kObjects = 16'000;

std::string content_of(std::size_t i) { return std::string(1000, static_cast<char>('a' + i % 26)); }
heap::kind heap_of(const guide<bytes>& held) { return guides::heap_of(held.slot().load_relaxed()); }

class SlowDisk : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    heap::options chosen;
    chosen.range_bytes = std::size_t{1} << 30;
    chosen.cold = *heap::cold_backing::parse("file:" + directory.path());
    ASSERT_TRUE(heap::configure(chosen));
  }
  SlowDisk() {
    for (std::size_t i = 0; i < kObjects; ++i) {
      guides_.emplace_back(testing_help::bytes_in_cold(content_of(i)));
    }
  }
  ~SlowDisk() override { os::set_fault_hook({}); }

  /// Runs a window that hints all of COLD. Calls `meanwhile` while its first call of that kind is
  /// under way. Writes behind it wait as well, for two threads write; reads do not, for `meanwhile`
  /// reads.
  template <class Meanwhile>
  window_statistics run_window_beside(os::io_call slow, Meanwhile meanwhile) {
    std::latch waits(1), may_go_on(1);
    std::atomic<bool> is_first{true};
    os::set_fault_hook([&](os::io_call of) {
      if (of != slow) return 0;
      const bool is_the_first = is_first.exchange(false);
      if (is_the_first) waits.count_down();
      if (is_the_first || slow == os::io_call::write) may_go_on.wait();
      return 0;
    });
    window_statistics seen;
    std::thread collecting([&] { seen = collector_.run_window(); });
    waits.wait();
    meanwhile();
    may_go_on.count_down();
    collecting.join();
    os::set_fault_hook({});
    return seen;
  }
  void expect_content(std::size_t i) {
    const scope inside;
    const bytes* const found = guides_[i].get(inside);
    ASSERT_NE(found, nullptr) << i;
    ASSERT_EQ(found->view(), content_of(i)) << i;
  }

  std::vector<guide<bytes>> guides_;
  object_collector collector_{options{}};
};

TEST_F(SlowDisk, ObjectsAreUsedAndReplacedWhileTheyAreWritten) {
  const window_statistics seen = run_window_beside(os::io_call::write, [this] {
    for (std::size_t i = 0; i < kObjects; i += 7) {
      EXPECT_FALSE(heap::is_out(guides::pointer_of(guides_[i].slot().load_relaxed())));
      expect_content(i);
    }
    const scope inside;
    EXPECT_TRUE(guides_[1].replace(inside, make_bytes(guides_[1], "new")));
    EXPECT_TRUE(guides_[2].clear(inside));
  });
  EXPECT_EQ(seen.page_out_problem, "");
  EXPECT_GT(seen.hinted_bytes, 0u);
  {
    const scope inside;
    EXPECT_EQ(guides_[1].get(inside)->view(), "new");
    EXPECT_EQ(guides_[2].get(inside), nullptr);
  }
  for (std::size_t i = 3; i < kObjects; ++i) expect_content(i);
}

TEST_F(SlowDisk, WhatChangesWhileItIsReadIsNotMoved) {
  EXPECT_EQ(heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}).problem, "");
  for (std::size_t i = 0; i < kObjects; ++i) {
    if (i % 4 != 0) guides_[i].reset();
  }
  sync::reclaim_ready();
  constexpr std::size_t kOut = kObjects - 2000;  // the last ones lie in an extent that is open
  const window_statistics seen = run_window_beside(os::io_call::read, [this] {
    for (std::size_t i = 0; i < kOut; i += 12) {
      expect_content(i);  // which brings it back
      EXPECT_NE(heap_of(guides_[i]), heap::kind::cold) << i;
    }
    for (std::size_t i = 4; i < kOut + 12; i += 12) {
      const scope inside;
      EXPECT_TRUE(guides_[i].replace(inside, make_bytes(guides_[i], content_of(i + 1))));
    }
    guides_[8].reset();
  });
  EXPECT_GT(seen.compacted.objects, 0u);
  EXPECT_EQ(seen.failed, 0u);
  EXPECT_FALSE(guides_[8]);
  for (std::size_t i = 0; i < kOut; i += 12) {
    EXPECT_EQ(heap_of(guides_[i]), heap::kind::hot) << i;
    expect_content(i);
    const scope inside;
    ASSERT_EQ(guides_[i + 4].get(inside)->view(), content_of(i + 5));
  }
  for (std::size_t i = 20; i < kObjects; i += 12) expect_content(i);
}

}  // namespace
}  // namespace isotherm::collector
