// What left DRAM and came back leaves again: the collector hears of every kind of use. COLD is a
// file here; a program of its own, since heaps are configured once.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
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
#include "heap/configure.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/memory/residency.hpp"

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

// More than page_out_cold() looks at by itself in the windows of a test, 16 MiB a window.
constexpr std::size_t kObjects = 160'000;

class cold_in_a_file : public testing::Environment {
 public:
  void SetUp() override {
    const testing_help::temporary_directory directory;
    heap::options chosen;
    chosen.range_bytes = std::size_t{1} << 30;
    chosen.cold = *heap::cold_backing::parse("file:" + directory.path());
    const auto configured = heap::configure(chosen);
    ASSERT_TRUE(configured) << configured.error().message;
  }
};
const auto* const environment = testing::AddGlobalTestEnvironment(new cold_in_a_file);

class PagingOut : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kObjects; ++i) {
      guides_.emplace_back(make_bytes(std::string(1000, static_cast<char>('a' + i % 26))));
    }
    while (hinted_in_a_window() ==
           0) {  // until all is in COLD, watched for a window, and asked for
    }
    ASSERT_TRUE(is_left_alone()) << "what has left is not asked for again";
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
  /// Whether no more is asked for from some window on. A page that a busy disk is still writing
  /// stays, and is asked for again until it is written: that takes as long as the disk takes.
  bool is_left_alone() {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (hinted_in_a_window() > 0) {
      if (std::chrono::steady_clock::now() > patience) return false;
    }
    return true;
  }
  std::uint64_t hinted_in_a_window() { return collector_.run_window().hinted_bytes; }
  const guide<bytes>& far_one() const { return guides_[kObjects * 9 / 10]; }

  std::vector<guide<bytes>> guides_;
  object_collector collector_{everything_may_leave()};
};

TEST_F(PagingOut, APageThatAPeekBroughtBackLeavesAgain) {
  {
    const scope inside;
    EXPECT_EQ(far_one().peek(inside)->view().size(), 1000u);
  }
  EXPECT_GT(hinted_in_a_window(), 0u);
  EXPECT_TRUE(is_left_alone());
}

TEST_F(PagingOut, ThePageOfAPromotedObjectLeavesAgain) {
  {
    const scope inside;
    EXPECT_EQ(far_one().get(inside)->view().size(), 1000u);
  }
  EXPECT_GT(hinted_in_a_window(), 0u);
}

TEST_F(PagingOut, WhatLeftAgainIsNotReadToBePromoted) {
  const void* used = nullptr;
  {
    const scope inside;
    const bytes* object = far_one().get(inside);
    EXPECT_EQ(object->view().size(), 1000u);
    used = object;
  }
  ASSERT_TRUE(heap::is_in_dram(used));
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (heap::is_in_dram(used)) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
    heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}, [] { return false; });
  }
  window_statistics seen = collector_.run_window();
  EXPECT_EQ(seen.accessed_cold_objects, 1u);
  EXPECT_EQ(seen.promoted.objects, 0u);
  EXPECT_FALSE(heap::is_in_dram(used));
  {
    const scope inside;
    EXPECT_EQ(far_one().get(inside)->view().size(), 1000u);
  }
  seen = collector_.run_window();
  EXPECT_EQ(seen.promoted.objects, 1u) << "it was used once more";
}

/// Moves as "counts" does, and looks whether what it is to move is in DRAM when it begins.
class looking_protocol final : public migration_protocol {
 public:
  static std::size_t count_in_dram(std::span<const candidate> some) {
    return static_cast<std::size_t>(std::ranges::count_if(some, [](const candidate& each) {
      const std::uintptr_t object = guides::address_of(each.slot->load_relaxed());
      const auto page = reinterpret_cast<void*>(object / base::kPageBytes * base::kPageBytes);
      return os::resident_bytes(page, base::kPageBytes).value() > 0;
    }));
  }
  std::string_view name() const noexcept override { return moves_->name(); }
  guides::word_use use_of_words() const noexcept override { return moves_->use_of_words(); }
  bool begin(std::span<const candidate> batch, sync::patience limit) override {
    in_dram += count_in_dram(batch);
    largest_batch = std::max(largest_batch, batch.size());
    return moves_->begin(batch, limit);
  }
  move_result move(guides::slot_word& slot, guides::word seen, heap::place target,
                   std::size_t& bytes) override {
    return finds_cold_full ? move_result::full : moves_->move(slot, seen, target, bytes);
  }
  void end() override { moves_->end(); }

  std::size_t in_dram = 0, largest_batch = 0;
  bool finds_cold_full = false;

 private:
  std::unique_ptr<migration_protocol> moves_ = make_counts_protocol();
};

class CompactingCold : public PagingOut {
 protected:
  /// As the search of a compaction lists them: of a few extents of COLD, objects that are out.
  void SetUp() override {
    PagingOut::SetUp();
    heap::sparse_extents around(heap::kind::cold, heap::used_extents(heap::kind::cold));
    for (std::size_t i = kObjects / 2; i < kObjects / 2 + 1500; ++i) {
      const void* const object = guides::pointer_of(guides_[i].slot().load_relaxed());
      around.choose(heap::extent_of(heap::kind::cold, object));
    }
    const auto decides = make_policy(policy_name::published);
    guides::progress so_far;
    find_in_order(*decides, around, so_far, candidates_);
    ASSERT_GE(candidates_.size(), 1500u);
    // A page that the disk is busy with stays.
    ASSERT_LT(looking_protocol::count_in_dram(candidates_), candidates_.size() / 4);
  }
  window_statistics move(std::uint64_t batch_bytes) {
    window_statistics seen;
    migration moves(protocol_, {batch_bytes, 1'000'000}, [] { return false; }, seen);
    for (moves.begin_list(candidates_); moves.move_batch();) {
    }
    return seen;
  }

  std::vector<candidate> candidates_;
  looking_protocol protocol_;
};

TEST_F(CompactingCold, ReadsWhatItMovesBeforeTheEpoch) {
  const window_statistics seen = move(std::uint64_t{256} << 10);
  EXPECT_EQ(protocol_.in_dram, candidates_.size());
  EXPECT_EQ(seen.compacted.objects, candidates_.size());
}

TEST_F(CompactingCold, ReadsSomeMiBAtATime) {
  move(std::uint64_t{1} << 40);
  EXPECT_EQ(protocol_.in_dram, candidates_.size());
  EXPECT_LE(protocol_.largest_batch, (std::size_t{4} << 20) / base::kPageBytes);
}

TEST_F(CompactingCold, ReadsNoMoreOnceColdIsFull) {
  protocol_.finds_cold_full = true;
  move(std::uint64_t{256} << 10);
  EXPECT_GT(protocol_.in_dram, 0u);
  EXPECT_LT(protocol_.in_dram, candidates_.size() / 2);
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
  EXPECT_EQ(seen.read_past_bytes, 0u);
  EXPECT_EQ(seen.page_utilization, static_cast<double>(seen.accessed_bytes) /
                                       static_cast<double>(seen.accessed_pages * base::kPageBytes));
}

TEST_F(PagingOut, AFreeBringsNoPageBack) {
  guides_[kObjects * 9 / 10].reset();
  EXPECT_TRUE(is_left_alone());
}

/// Makes many objects in COLD and frees them.
void fill_and_empty_cold() {
  std::vector<void*> objects;
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
