// Retiring and reclaiming while operator new refuses.
#include <gtest/gtest.h>

#include <vector>

#include "sync/epoch.hpp"
#include "sync/refusing_new.hpp"
#include "sync/retire.hpp"
#include "sync/scope_elsewhere.hpp"

namespace isotherm::sync {
namespace {

using testing_help::refuses_memory;

int reclaimed = 0;
void count_reclaimed(void*) noexcept { ++reclaimed; }

TEST(CountingWithoutMemory, LosesNothingThatWasCounted) {
  static int released;
  released = 0;
  set_count_release([](void*) noexcept { ++released; });
  ASSERT_TRUE(begin_migration_epoch(1'000'000));
  std::vector<int> guides(1000);
  int added = 0;
  {
    const scope inside;
    ASSERT_EQ(note_counted(inside.slot(), &added), noted::added);
    refuses_memory = true;
    while (note_counted(inside.slot(), &guides[static_cast<std::size_t>(added)]) == noted::added) {
      ++added;
    }
    refuses_memory = false;
    EXPECT_EQ(note_counted(inside.slot(), &guides[0]), noted::known);
  }
  end_migration_epoch();
  EXPECT_GT(added, 0);
  EXPECT_EQ(released, added + 1);
}

TEST(RetireWithoutMemory, FreesWhatItListsAndCountsWhatItCannot) {
  testing_help::scope_elsewhere stuck;
  {
    const scope claims_a_slot;
  }
  int object = 0;
  constexpr int kBlocks = 60'000;
  refuses_memory = true;
  for (int i = 0; i < kBlocks; ++i) {
    const scope inside;
    retire(&object, &count_reclaimed);
  }
  refuses_memory = false;
  const auto listed = static_cast<int>(retired_blocks());
  EXPECT_GE(listed, 40'000);
  EXPECT_EQ(static_cast<int>(unlisted_blocks()), kBlocks - listed);
  stuck.leave();
  reclaim_ready();
  EXPECT_EQ(reclaimed, listed);
}

// Reclaimed blocks make room for more: without a stuck scope memory is never needed.
TEST(RetireWithoutMemory, GoesOnForEver) {
  {
    const scope claims_a_slot;
  }
  const std::uint64_t before = unlisted_blocks();
  reclaimed = 0;
  int object = 0;
  constexpr int kBlocks = 1'000'000;
  refuses_memory = true;
  for (int i = 0; i < kBlocks; ++i) {
    const scope inside;
    retire(&object, &count_reclaimed);
  }
  reclaim_ready();
  refuses_memory = false;
  EXPECT_EQ(unlisted_blocks(), before);
  EXPECT_EQ(reclaimed, kBlocks);
}

}  // namespace
}  // namespace isotherm::sync
