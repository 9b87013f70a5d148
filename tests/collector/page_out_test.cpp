// COLD in a file leaves DRAM and is read from there: by uses, and by the collector, which reads
// what it moves. A program of its own, since heaps are configured once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/page.hpp"
#include "collector/collector.hpp"
#include "collector/protocol/counts.hpp"
#include "collector/scan/choice.hpp"
#include "collector/scan/search.hpp"
#include "collector/window/migration.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/configure.hpp"
#include "heap/ranges.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/faults.hpp"

// Stands before the C library's, to count who gives space of COLD's file back.
static thread_local int my_punches = 0;
static std::atomic<int> all_punches{0};
extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if ((mode & FALLOC_FL_PUNCH_HOLE) != 0) {
    ++my_punches;
    ++all_punches;
  }
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}

namespace isotherm::collector {
namespace {

constexpr std::size_t kObjects = 160'000, kRangeBytes = std::size_t{1} << 30;

class cold_in_a_file : public testing::Environment {
 public:
  void SetUp() override {
    const testing_help::temporary_directory directory;
    path = directory.path();
    heap::options chosen;
    chosen.range_bytes = kRangeBytes;
    chosen.cold = *heap::cold_backing::parse("file:" + path);
    const auto configured = heap::configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
  }
  static inline std::string path;
};
const auto* const environment = testing::AddGlobalTestEnvironment(new cold_in_a_file);

std::string content_of(std::size_t i) { return std::string(1000, static_cast<char>('a' + i % 26)); }
const void* object_of(const guide<bytes>& held) {
  return guides::pointer_of(held.slot().load_relaxed());
}
std::uint64_t cold_in_dram() { return heap::usage_of(heap::kind::cold).resident_bytes; }
void page_out_all() {
  EXPECT_EQ(heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}).problem, "");
  sync::reclaim_ready();
}

class PagingOut : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kObjects; ++i) guides_.emplace_back(make_bytes(content_of(i)));
    while (hinted_in_a_window() == 0) {  // until all is in COLD, watched for a window, and written
    }
    ASSERT_EQ(hinted_in_a_window(), 0u) << "what has left is not written again";
  }
  static options everything_may_leave() {
    options chosen;
    chosen.policy = policy_name::published;
    chosen.cold_threshold = 1;
    chosen.target_promotion_rate = 1e18;
    chosen.hint = heap::hint::pageout;
    chosen.page_out_bytes_per_window = std::uint64_t{1} << 40;
    return chosen;
  }
  std::uint64_t hinted_in_a_window() { return collector_.run_window().hinted_bytes; }
  const guide<bytes>& far_one() const { return guides_[kObjects * 9 / 10]; }
  /// An object in an extent of COLD that takes no more objects, and has not been written.
  const guide<bytes>& closed_one() {
    const std::size_t first = guides_.size();
    do {
      guides_.emplace_back(testing_help::bytes_in_cold(content_of(first)));
    } while (!heap::is_closed(object_of(guides_[first])));
    EXPECT_FALSE(heap::is_out(object_of(guides_[first])));
    return guides_[first];
  }

  std::vector<guide<bytes>> guides_;
  object_collector collector_{everything_may_leave()};
};

TEST_F(PagingOut, WhatLeftTakesNoDram) {
  EXPECT_LT(cold_in_dram(), 4 * heap::kExtentBytes) << "extents that take objects";
  EXPECT_TRUE(heap::is_out(object_of(far_one())));
}

// Looking at everything makes nothing warm that is in DRAM; reading the rest costs as a use does.
TEST_F(PagingOut, APeekIsAUseOfWhatIsOutOnly) {
  {
    const scope inside;
    EXPECT_EQ(closed_one().peek(inside)->view().size(), 1000u);
  }
  window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_objects, 0u);
  EXPECT_EQ(seen.promoted.objects, 0u);
  {
    const scope inside;
    EXPECT_EQ(far_one().peek(inside)->view(), content_of(kObjects * 9 / 10));
  }
  seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_cold_objects, 1u);
  EXPECT_EQ(seen.promoted.objects, 1u);
}

TEST_F(PagingOut, AUseBringsItsObjectBackAndNoOther) {
  const std::uint64_t before = cold_in_dram();
  {
    const scope inside;
    EXPECT_EQ(far_one().get(inside)->view(), content_of(kObjects * 9 / 10));
  }
  EXPECT_EQ(guides::heap_of(far_one().slot().load_relaxed()), heap::kind::hot);
  EXPECT_EQ(cold_in_dram(), before);
  const window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.promoted.objects, 1u);
  EXPECT_EQ(seen.accessed_cold_objects, 1u) << "it was a miss";
}

TEST_F(PagingOut, AnObjectUsedInMemoryComesBackAtTheWindowsEnd) {
  const guide<bytes>& used = closed_one();
  const void* const before = object_of(used);
  {
    const scope inside;
    EXPECT_EQ(used.get(inside), before) << "it is used where it lies";
  }
  const std::uint64_t reads = heap::cold_reads().misses;
  const window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_cold_objects, 1u);
  EXPECT_EQ(seen.promoted.objects, 1u);
  EXPECT_EQ(guides::heap_of(used.slot().load_relaxed()), heap::kind::hot);
  EXPECT_EQ(heap::cold_reads().misses, reads);
}

TEST_F(PagingOut, AnObjectThatLeftSinceItsUseIsNotReadToBePromoted) {
  const guide<bytes>& used = closed_one();
  {
    const scope inside;
    EXPECT_NE(used.get(inside), nullptr);
  }
  page_out_all();
  ASSERT_TRUE(heap::is_out(object_of(used)));
  window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_cold_objects, 1u);
  EXPECT_EQ(seen.promoted.objects, 0u);
  EXPECT_TRUE(heap::is_out(object_of(used)));
  {
    const scope inside;
    EXPECT_EQ(used.get(inside)->view().size(), 1000u);
  }
  seen = collector_.run_window();
  EXPECT_EQ(seen.promoted.objects, 1u) << "it was used once more";
}

TEST_F(PagingOut, WhatIsReadPastItsPageTouchesNone) {
  {
    const scope inside;
    ASSERT_FALSE(far_one().try_get(inside)) << "it is out";
  }
  window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_cold_objects, 1u);
  EXPECT_EQ(seen.read_past_bytes, seen.accessed_bytes);
  EXPECT_EQ(seen.read_past_pages, seen.accessed_pages);
  EXPECT_EQ(seen.page_utilization, 0) << "of no pages";
  EXPECT_GT(seen.promotion_rate, 0);
  {
    const scope inside;
    EXPECT_NE(guides_[0].get(inside), nullptr);
  }
  seen = collector_.run_window();
  EXPECT_EQ(seen.read_past_bytes, 0u) << "it is in HOT";
  EXPECT_EQ(seen.page_utilization, static_cast<double>(seen.accessed_bytes) /
                                       static_cast<double>(seen.accessed_pages * base::kPageBytes));
}

TEST_F(PagingOut, AFreeBringsNoPageBack) {
  const std::uint64_t before = cold_in_dram(), reads = heap::cold_reads().misses;
  guides_[kObjects * 9 / 10].reset();
  EXPECT_EQ(hinted_in_a_window(), 0u);
  EXPECT_EQ(cold_in_dram(), before);
  EXPECT_EQ(heap::cold_reads().misses, reads);
}

/// Moves as "counts" does, and looks when it begins whether the extents of what it is to move are
/// pinned, as they are once it was read.
class looking_protocol final : public migration_protocol {
 public:
  static std::size_t count_pinned(std::span<const candidate> some) {
    const heap::extent_table& extents = heap::heaps().packed(heap::kind::cold).extents();
    return static_cast<std::size_t>(std::ranges::count_if(some, [&](const candidate& each) {
      const void* const object = guides::pointer_of(each.slot->load_relaxed());
      return extents.row(extents.index_of(object)).load().readers() > 0;
    }));
  }
  std::string_view name() const noexcept override { return moves_->name(); }
  guides::word_use use_of_words() const noexcept override { return moves_->use_of_words(); }
  bool begin(std::span<const candidate> batch, sync::patience limit) override {
    read += count_pinned(batch);
    largest_batch = std::max(largest_batch, batch.size());
    if (cuts_file) EXPECT_TRUE(testing_help::truncate_cold(cold_in_a_file::path, 0));
    return moves_->begin(batch, limit);
  }
  move_result move(guides::slot_word& slot, guides::word seen, const void* from, heap::place target,
                   std::size_t& bytes) override {
    return finds_cold_full ? move_result::full : moves_->move(slot, seen, from, target, bytes);
  }
  void end() override { moves_->end(); }

  std::size_t read = 0, largest_batch = 0;
  bool finds_cold_full = false, cuts_file = false;

 private:
  std::unique_ptr<migration_protocol> moves_ = make_counts_protocol();
};

class CompactingCold : public PagingOut {
 protected:
  /// Lists objects that are out, of a few extents of COLD, as the search of a compaction does.
  void SetUp() override {
    PagingOut::SetUp();
    heap::sparse_extents around(heap::kind::cold, heap::used_extents(heap::kind::cold));
    for (std::size_t i = kObjects / 2; i < kObjects / 2 + 1500; ++i) {
      around.choose(heap::extent_of(heap::kind::cold, object_of(guides_[i])));
    }
    const auto decides = make_policy(policy_name::published);
    guides::progress so_far;
    find_in_order(*decides, around, so_far, candidates_);
    ASSERT_GE(candidates_.size(), 1500u);
    sync::reclaim_ready();
    ASSERT_EQ(looking_protocol::count_pinned(candidates_), 0u);
    for (const candidate& each : candidates_) {
      ASSERT_TRUE(heap::is_out(guides::pointer_of(each.slot->load_relaxed())));
    }
  }
  window_statistics move(std::uint64_t batch_bytes) {
    window_statistics seen;
    migration moves(protocol_, {batch_bytes, 1'000'000}, [] { return false; }, seen);
    for (moves.begin_list(candidates_); moves.move_batch();) {
    }
    return seen;
  }
  void mark_as_used() {
    for (const candidate& each : candidates_) {
      each.slot->store_relaxed(each.slot->load_relaxed() | guides::kAccessed);
    }
  }
  void expect_content(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const scope inside;
      ASSERT_EQ(guides_[i].peek(inside)->view(), content_of(i)) << i;
    }
  }

  std::vector<candidate> candidates_;
  looking_protocol protocol_;
};

TEST_F(CompactingCold, ReadsWhatItMovesBeforeTheEpoch) {
  const window_statistics seen = move(std::uint64_t{256} << 10);
  EXPECT_EQ(protocol_.read, candidates_.size());
  EXPECT_EQ(seen.compacted.objects, candidates_.size());
  EXPECT_EQ(seen.failed, 0u);
  EXPECT_EQ(looking_protocol::count_pinned(candidates_), 0u);
  expect_content(kObjects / 2, kObjects / 2 + 1500);
  page_out_all();
  expect_content(kObjects / 2, kObjects / 2 + 1500);  // from the disk
}

TEST_F(CompactingCold, ReadsNothingInTheEpoch) {
  candidates_.erase(candidates_.begin() + 100, candidates_.end());
  protocol_.cuts_file = true;
  const window_statistics seen = move(std::uint64_t{1} << 40);
  EXPECT_EQ(seen.compacted.objects, 100u);
  EXPECT_EQ(seen.failed, 0u);
  for (const candidate& each : candidates_) {
    const void* const object = guides::pointer_of(each.slot->load_relaxed());
    ASSERT_FALSE(heap::is_out(object));
    const auto view = static_cast<const bytes*>(object)->view();
    ASSERT_EQ(view, std::string(1000, view.front()));
  }
  ASSERT_TRUE(testing_help::truncate_cold(cold_in_a_file::path, kRangeBytes));
}

TEST_F(CompactingCold, ReadsSomeMiBAtATime) {
  move(std::uint64_t{1} << 40);
  EXPECT_EQ(protocol_.read, candidates_.size());
  EXPECT_LE(protocol_.largest_batch, (std::size_t{4} << 20) / base::kPageBytes);
}

TEST_F(CompactingCold, ReadsNoMoreOnceColdIsFull) {
  protocol_.finds_cold_full = true;
  move(std::uint64_t{256} << 10);
  EXPECT_GT(protocol_.read, 0u);
  EXPECT_LT(protocol_.read, candidates_.size() / 2);
}

TEST_F(CompactingCold, ReadsWhatComesBackAndWasUsed) {
  candidates_.erase(candidates_.begin() + 100, candidates_.end());
  mark_as_used();
  for (candidate& each : candidates_) each.target = {heap::kind::hot, heap::kColdestBand};
  const window_statistics seen = move(std::uint64_t{1} << 40);
  EXPECT_EQ(protocol_.read, 100u);
  EXPECT_EQ(seen.promoted.objects, 100u);
  EXPECT_EQ(seen.failed, 0u);
}

TEST_F(CompactingCold, ReadsNothingOfWhatWasUsedAndStays) {
  candidates_.erase(candidates_.begin() + 100, candidates_.end());
  mark_as_used();
  const window_statistics seen = move(std::uint64_t{1} << 40);
  EXPECT_EQ(protocol_.read, 0u);
  EXPECT_EQ(seen.vetoed, 100u);
  EXPECT_EQ(seen.failed, 0u);
}

TEST_F(CompactingCold, GoesOnBehindAReadThatFails) {
  // A read of several objects, and those of them that are then read alone.
  os::set_fault_hook([left = std::make_shared<std::atomic<int>>(20)](os::io_call of) {
    return of == os::io_call::read && left->fetch_sub(1) > 0 ? EIO : 0;
  });
  const window_statistics seen = move(std::uint64_t{256} << 10);
  os::set_fault_hook({});
  EXPECT_GT(seen.failed, 0u);
  EXPECT_LT(seen.failed, candidates_.size() / 4);
  EXPECT_EQ(seen.compacted.objects, candidates_.size() - seen.failed);
  expect_content(kObjects / 2, kObjects / 2 + 1500);
}

TEST_F(PagingOut, WindowsEmptySparseExtents) {
  for (std::size_t i = 0; i < kObjects; ++i) {
    if (i % 4 != 0) guides_[i].reset();
  }
  const heap::usage before = heap::usage_of(heap::kind::cold, heap::residency::left_out);
  window_statistics seen;
  std::uint64_t moved = 0;
  do {
    seen = collector_.run_window();
    EXPECT_EQ(seen.failed, 0u);
    moved += seen.compacted.objects;
  } while (seen.compacted.objects > 0);
  EXPECT_GT(moved, kObjects / 8);
  const heap::usage after = heap::usage_of(heap::kind::cold, heap::residency::left_out);
  EXPECT_EQ(after.objects, before.objects);
  EXPECT_LT(after.extent_bytes, before.extent_bytes * 2 / 3) << "extents were emptied";
  EXPECT_LT(cold_in_dram(), after.extent_bytes / 4) << "the copies have left";
  for (std::size_t i = 0; i < kObjects; i += 388) {  // of those that are left
    const scope inside;
    ASSERT_EQ(guides_[i].peek(inside)->view(), content_of(i)) << i;
  }
}

/// Makes many objects in COLD and frees them.
void fill_and_empty_cold() {
  std::vector<void*> objects;
  objects.reserve(8'000);
  for (int i = 0; i < 8'000; ++i) objects.push_back(heap::allocate(heap::kind::cold, 1000));
  my_punches = 0;
  for (void* object : objects) heap::deallocate(object);
}

TEST(EmptiedCold, IsGivenBackByARunningCollector) {
  options watching;
  watching.window_seconds = 1e9;
  object_collector collector(watching);
  ASSERT_TRUE(collector.start());
  const int before = all_punches;
  fill_and_empty_cold();
  EXPECT_EQ(my_punches, 0) << "whoever frees may be a thread that serves clients";
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (all_punches == before && std::chrono::steady_clock::now() < patience) {
    std::this_thread::yield();
  }
  EXPECT_GT(all_punches, before);
  fill_and_empty_cold();
  collector.stop();
  EXPECT_EQ(heap::give_back_emptied_cold(), 0u) << "nobody else would";
  fill_and_empty_cold();
  EXPECT_GT(my_punches, 0);
}

// A collector with its default options saves DRAM.
TEST(CollectorDefaults, WhatIsNotUsedLeavesDram) {
  constexpr std::size_t kMade = 20'000, kUsed = 200;
  std::vector<guide<bytes>> guides;
  guides.reserve(kMade);
  for (std::size_t i = 0; i < kMade; ++i) guides.emplace_back(make_bytes(std::string(1000, 'x')));
  object_collector collector{options{}};
  for (int window = 0; window < 20; ++window) {
    for (std::size_t i = 0; i < kUsed; ++i) {
      const scope inside;
      guides[i].get(inside);
    }
    collector.run_window();
  }
  const heap::usage cold = heap::usage_of(heap::kind::cold);
  EXPECT_GE(cold.objects, kMade - kUsed);
  EXPECT_LT(cold.resident_bytes, cold.bytes / 10);
}

}  // namespace
}  // namespace isotherm::collector
