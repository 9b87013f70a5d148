#include "collector/memory/memory_room.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "collector/memory/early_end.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(MemoryRoom, IsTheTargetOrWhatTheControlGroupsLeaveLessAMargin) {
  EXPECT_EQ(memory_room_of(0, {100 * kMiB, 10 * kMiB}, 0, std::nullopt).target_bytes, 0u);
  EXPECT_EQ(memory_room_of(80 * kMiB, {100 * kMiB, 10 * kMiB}, 0, std::nullopt).target_bytes,
            80 * kMiB);
  EXPECT_TRUE(memory_room_of(80 * kMiB, {100 * kMiB, 0}, 0, std::nullopt).is_short());
  EXPECT_FALSE(memory_room_of(0, {100 * kMiB, 0}, 0, std::nullopt).is_short());
  // The group leaves 70 MiB beside 90 that are no file's, less a margin, and files' 10 are extra.
  EXPECT_EQ(memory_room_of(0, {100 * kMiB, 10 * kMiB}, 0, 70 * kMiB).target_bytes, 154 * kMiB);
  EXPECT_EQ(memory_room_of(1000 * kMiB, {100 * kMiB, 10 * kMiB}, 0, 70 * kMiB).target_bytes,
            154 * kMiB);
  EXPECT_EQ(memory_room_of(0, {50 * kMiB, 0}, 0, 14 * kMiB).target_bytes, 56 * kMiB);
  EXPECT_EQ(memory_room_of(0, {800 * kMiB, 0}, 0, 800 * kMiB).target_bytes, 1500 * kMiB);
  EXPECT_EQ(memory_room_of(99 * kMiB, {100 * kMiB, 10 * kMiB}, 0, 70 * kMiB).target_bytes,
            99 * kMiB);
  // The allocator's free pages are no data, but count in a control group.
  EXPECT_FALSE(memory_room_of(80 * kMiB, {100 * kMiB, 0}, 20 * kMiB, std::nullopt).is_short());
  EXPECT_EQ(memory_room_of(0, {100 * kMiB, 10 * kMiB}, 20 * kMiB, 70 * kMiB).target_bytes,
            134 * kMiB);
  EXPECT_EQ(memory_room_of(0, {100 * kMiB, 10 * kMiB}, 20 * kMiB, 70 * kMiB).dram_bytes, 80 * kMiB);
  EXPECT_GT(memory_room_of(99 * kMiB, {100 * kMiB, 0}, 0, ~std::uint64_t{0}).target_bytes, 0u);
}

TEST(MemoryRoom, HalfOfWhatIsLeftMayComeBack) {
  EXPECT_EQ(memory_room({100, 0}).promotable_bytes(), ~std::uint64_t{0});
  EXPECT_EQ(memory_room({100, 160}).promotable_bytes(), 30u);
  EXPECT_EQ(memory_room({100, 100}).promotable_bytes(), 0u);
  EXPECT_EQ(memory_room({100, 60}).promotable_bytes(), 0u);
  // A sixteenth of the target is left to writers.
  EXPECT_EQ(memory_room({100, 0}).returnable_bytes(), ~std::uint64_t{0});
  EXPECT_EQ(memory_room({100, 160}).returnable_bytes(), 25u);
  EXPECT_EQ(memory_room({150, 160}).returnable_bytes(), 0u);
}

TEST(MemoryRoom, IsLowAndEnoughBySharesOfTheTarget) {
  const auto room = [](std::uint64_t dram, std::uint64_t target) {
    return memory_room{dram * kMiB, target * kMiB};
  };
  EXPECT_FALSE(room(310, 320).is_low());
  EXPECT_TRUE(room(311, 320).is_low());
  EXPECT_TRUE(room(330, 320).is_low());
  EXPECT_TRUE(room(300, 320).is_enough());
  EXPECT_FALSE(room(301, 320).is_enough());
  EXPECT_FALSE(room(1000, 0).is_low()) << "nothing limits it";
  EXPECT_TRUE(room(1000, 0).is_enough());
  // Two and four extents are the least.
  EXPECT_TRUE(room(19, 20).is_low());
  EXPECT_FALSE(room(18, 20).is_low());
  EXPECT_TRUE(room(16, 20).is_enough());
}

TEST(EarlyEnd, ComesLessAndLessOftenWhereWindowsLetNothingLeave) {
  using std::chrono::milliseconds;
  const milliseconds whole(1000);
  const memory_room low{.dram_bytes = 319 * kMiB, .target_bytes = 320 * kMiB};
  const memory_room room{.dram_bytes = 100 * kMiB, .target_bytes = 320 * kMiB};
  const memory_room less{.dram_bytes = 250 * kMiB, .target_bytes = 320 * kMiB};
  early_end early;
  EXPECT_FALSE(early.is_due(room, whole));
  EXPECT_TRUE(early.is_due(less, whole)) << "the first of all";
  EXPECT_FALSE(early.is_due(low, kLookEvery / 2));
  EXPECT_TRUE(early.is_due(low, kLookEvery));
  early.end_window(low, 0, whole);
  EXPECT_FALSE(early.is_due(less, whole));
  EXPECT_FALSE(early.is_due(low, kLookEvery));
  EXPECT_TRUE(early.is_due(low, 2 * kLookEvery));
  for (int windows = 0; windows < 10; ++windows) early.end_window(low, 9 * kMiB, whole);
  EXPECT_FALSE(early.is_due(low, milliseconds(999)));
  EXPECT_TRUE(early.is_due(low, whole));
  early.end_window(low, 10 * kMiB, whole);
  EXPECT_TRUE(early.is_due(low, kLookEvery)) << "enough has left";
}

}  // namespace
}  // namespace isotherm::collector
