// Guides and the collector beside a disk that does not give objects back. A program of its own,
// since heaps are configured once.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "collector/collector.hpp"
#include "collector/scan/search.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/packed/extent.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"

namespace isotherm::collector {
namespace {

constexpr std::size_t kObjects = 20'000, kRangeBytes = std::size_t{1} << 30;

std::string content_of(std::size_t i) { return std::string(1000, static_cast<char>('a' + i % 26)); }
const void* object_of(const guide<bytes>& held) {
  return guides::pointer_of(held.slot().load_relaxed());
}

/// Not trivially destructible: its bytes are needed to free it.
struct with_destructor {
  ~with_destructor() { ++destroyed; }
  static inline std::size_t destroyed = 0;
  char content[9000];
};

}  // namespace
}  // namespace isotherm::collector

template <>
struct isotherm::is_trivially_relocatable<isotherm::collector::with_destructor> : std::true_type {};

namespace isotherm::collector {
namespace {

class Unreadable : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const testing_help::temporary_directory directory;
    path = directory.path();
    heap::options chosen;
    chosen.range_bytes = kRangeBytes;
    chosen.cold = *heap::cold_backing::parse("file:" + path);
    ASSERT_TRUE(heap::configure(chosen));
  }
  ~Unreadable() override { os::set_fault_hook({}); }
  static void page_out_all() {
    EXPECT_EQ(heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}).problem, "");
    sync::reclaim_ready();
  }
  /// Fails one of each `every` reads of the disk.
  static void fail_reads(unsigned every) {
    os::set_fault_hook([every, calls = std::make_shared<std::atomic<unsigned>>(0)](os::io_call of) {
      return of == os::io_call::read && ++*calls % every == 0 ? EIO : 0;
    });
  }
  /// Objects in COLD, of which nearly all have left DRAM.
  void fill() {
    for (std::size_t i = 0; i < kObjects; ++i) {
      guides_.emplace_back(testing_help::bytes_in_cold(content_of(i)));
    }
    page_out_all();
  }
  void expect_content() {
    for (std::size_t i = 0; i < guides_.size(); ++i) {
      if (!guides_[i]) continue;
      const scope inside;
      const bytes* const found = guides_[i].get(inside);
      ASSERT_NE(found, nullptr) << i;
      ASSERT_EQ(found->view(), content_of(i));
    }
  }

  std::vector<guide<bytes>> guides_;
  static inline std::string path;
};

TEST_F(Unreadable, StaysOutAndIsHadAgainWhenTheDiskGivesIt) {
  fill();
  const void* const object = object_of(guides_.front());
  ASSERT_TRUE(heap::is_out(object));
  fail_reads(1);
  const std::uint64_t before = heap::lost_reads();
  for (std::uint64_t look = 1; look <= 2; ++look) {
    access inside;
    EXPECT_EQ(guides_.front().get(inside), nullptr);
    EXPECT_EQ(inside.result(), access::outcome::unreadable);
    EXPECT_EQ(object_of(guides_.front()), object);
    EXPECT_TRUE(heap::is_out(object));
    EXPECT_EQ(heap::lost_reads(), before + look);
  }
  os::set_fault_hook({});
  expect_content();
}

TEST_F(Unreadable, IsLostAloneToReadersAndToTheCollector) {
  for (std::size_t i = 0; i < kObjects; ++i) guides_.emplace_back(make_bytes(content_of(i)));
  object_collector collector(
      {.policy = policy_name::published, .cold_threshold = 1, .adaptive_threshold = false});
  while (heap::usage_of(heap::kind::cold, heap::residency::left_out).objects < kObjects)
    collector.run_window();
  page_out_all();
  ASSERT_TRUE(testing_help::truncate_cold(path, 4 * heap::kExtentBytes));

  std::size_t lost = 0;
  for (int look = 0; look < 3; ++look) {
    std::size_t lost_now = 0;
    for (std::size_t i = 0; i < kObjects; ++i) {
      access inside;
      const bytes* found = look == 0 ? guides_[i].peek(inside) : guides_[i].get(inside);
      ASSERT_EQ(inside.result(), found ? access::outcome::complete : access::outcome::unreadable);
      if (found) {
        ASSERT_EQ(found->view(), content_of(i));
      } else {
        ++lost_now;
      }
    }
    EXPECT_GT(lost_now, kObjects / 3);
    EXPECT_LT(lost_now, kObjects);
    EXPECT_TRUE(look == 0 || lost_now == lost);
    lost = lost_now;
    // An object that was used and is out waits for its next use.
    EXPECT_EQ(collector.run_window().failed, 0u) << "the collector asks no disk for it";
  }
  // Another object in its place, or none.
  for (std::size_t i = 0; i < kObjects; ++i) {
    if (i % 3 == 0) continue;
    const scope inside;
    ASSERT_TRUE(guides_[i].replace(inside, make_bytes(guides_[i], "new")));
    ASSERT_EQ(guides_[i].get(inside)->view(), "new");
  }
  sync::reclaim_ready();
  EXPECT_GT(collector.run_window().failed, 0u) << "COLD was compacted, as far as it can be read";
  guides_.clear();
  ASSERT_TRUE(testing_help::truncate_cold(path, kRangeBytes));
}

TEST_F(Unreadable, IsLeftByACompactionThatMovesTheOthers) {
  fill();
  for (std::size_t i = 0; i < kObjects; ++i) {
    if (i % 4 != 0) guides_[i].reset();
  }
  std::vector<const void*> before;
  before.reserve(guides_.size());
  for (const auto& each : guides_) before.push_back(object_of(each));
  object_collector collector({.policy = policy_name::published, .hint = heap::hint::none});
  fail_reads(2);
  const window_statistics seen = collector.run_window();
  EXPECT_GT(seen.compacted.objects, 0u);
  EXPECT_GT(seen.failed, 0u);
  std::size_t moved = 0, left = 0;
  for (std::size_t i = 0; i < kObjects; i += 4) {
    const bool has_moved = object_of(guides_[i]) != before[i];
    moved += has_moved;
    left += !has_moved && heap::is_out(before[i]);
  }
  EXPECT_EQ(moved, seen.compacted.objects);
  EXPECT_GE(left, seen.failed);
  os::set_fault_hook({});
  const window_statistics next = collector.run_window();
  EXPECT_GT(next.compacted.objects, 0u) << "what failed is tried again";
  EXPECT_EQ(next.failed, 0u);
  expect_content();
}

// A thread that destroys a neighbour of its guide waits meanwhile.
TEST_F(Unreadable, IsNotLookedAtWhereCompactionIsSought) {
  fill();
  for (std::size_t i = 0; i < kObjects; i += 2) guides_[i].reset();
  fail_reads(1);
  const std::uint64_t before = heap::lost_reads();
  std::vector<candidate> found;
  guides::progress so_far;
  const auto groups = heap::sparsest_of(heap::kind::cold, {.live_share = 0.75});
  ASSERT_EQ(groups.size(), 1u);
  find_in_order(*make_policy(policy_name::budget), groups.front(), so_far, found);
  EXPECT_TRUE(so_far.is_over);
  EXPECT_GT(found.size(), kObjects / 4);
  EXPECT_EQ(heap::lost_reads(), before);
}

TEST_F(Unreadable, IsNoLossOfWhomFreesIt) {
  constexpr std::size_t kMany = 1000;
  std::vector<guide<with_destructor>> guides;
  guides.reserve(kMany);
  for (std::size_t i = 0; i < kMany; ++i) {
    guides.emplace_back(testing_help::object_in_cold<with_destructor>());
  }
  page_out_all();
  const auto out = static_cast<std::size_t>(std::ranges::count_if(guides, [](const auto& each) {
    return heap::is_out(guides::pointer_of(each.slot().load_relaxed()));
  }));
  ASSERT_GT(out, kMany / 2);
  fail_reads(1);
  const std::uint64_t before = heap::lost_reads();
  {
    const scope inside;
    for (auto& each : guides) each.clear(inside);
  }
  sync::reclaim_ready();
  EXPECT_EQ(with_destructor::destroyed, kMany - out);
  EXPECT_EQ(heap::lost_reads(), before);
}

}  // namespace
}  // namespace isotherm::collector
