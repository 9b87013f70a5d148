#include "collector/growth_limit.hpp"

#include <gtest/gtest.h>

#include "heap/upkeep.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

constexpr memory_room room_of(std::uint64_t dram, std::uint64_t target) {
  return {.dram_bytes = dram * kMiB, .file_bytes = 0, .target_bytes = target * kMiB};
}

TEST(AllowedGrowth, IsTheShareOfTheRoomThatIsDueForTheTime) {
  using seconds = std::chrono::duration<double>;
  EXPECT_EQ(allowed_growth(room_of(60, 100), seconds(0.1)), 10 * kMiB);
  EXPECT_EQ(allowed_growth(room_of(60, 100), seconds(10)), 20 * kMiB) << "half at most";
  EXPECT_EQ(allowed_growth(room_of(101, 100), seconds(10)), 0u);
  EXPECT_EQ(allowed_growth(room_of(60, 0), seconds(0.1)), heap::kUnlimitedGrowth);
}

TEST(GrowthLimit, RefusesASixteenthAboveTheTargetUntilDramIsBelowIt) {
  growth_limit limit;
  limit.follow(room_of(170, 160));
  EXPECT_FALSE(limit.refuses());
  limit.follow(room_of(171, 160));
  EXPECT_TRUE(limit.refuses());
  limit.follow(room_of(165, 160));
  EXPECT_TRUE(limit.refuses()) << "it would be let in and refused in turn";
  limit.follow(room_of(160, 160));
  EXPECT_FALSE(limit.refuses());
  limit.follow(room_of(171, 160));
  limit.release();
  EXPECT_FALSE(limit.refuses());
  limit.follow(room_of(171, 160));
  limit.follow(room_of(171, 0));
  EXPECT_FALSE(limit.refuses()) << "the limit was taken away";
  limit.release();
}

}  // namespace
}  // namespace isotherm::collector
