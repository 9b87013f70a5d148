#include "collector/memory/growth_limit.hpp"

#include <gtest/gtest.h>

#include "heap/upkeep.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

constexpr memory_room room_of(std::uint64_t dram, std::uint64_t target) {
  return {.dram_bytes = dram * kMiB, .target_bytes = target * kMiB};
}

TEST(AllowedGrowth, IsHalfOfTheRoom) {
  EXPECT_EQ(allowed_growth(room_of(60, 100)), 20 * kMiB);
  EXPECT_EQ(allowed_growth(room_of(100, 100)), 0u);
  EXPECT_EQ(allowed_growth(room_of(101, 100)), 0u);
  EXPECT_EQ(allowed_growth(room_of(60, 0)), heap::kUnlimitedGrowth);
}

class GrowthLimit : public testing::Test {
 protected:
  ~GrowthLimit() override { limit_.release(); }
  /// A tenth of a second after the last look.
  void look(std::uint64_t dram, std::uint64_t target) {
    limit_.follow(room_of(dram, target), time_ += std::chrono::milliseconds(100));
  }
  growth_limit limit_;
  growth_limit::time_point time_;
};

TEST_F(GrowthLimit, RefusesASixteenthAboveTheTargetUntilDramIsBelowIt) {
  for (int i = 0; i < 30; ++i) look(170, 160);
  EXPECT_FALSE(limit_.refuses());
  look(171, 160);
  EXPECT_TRUE(limit_.refuses());
  look(165, 160);
  EXPECT_TRUE(limit_.refuses()) << "it would be let in and refused in turn";
  look(160, 160);
  EXPECT_FALSE(limit_.refuses());
  for (int i = 0; i < 30; ++i) look(171, 160);
  EXPECT_TRUE(limit_.refuses());
  limit_.release();
  EXPECT_FALSE(limit_.refuses());
  for (int i = 0; i < 30; ++i) look(171, 160);
  look(171, 0);
  EXPECT_FALSE(limit_.refuses()) << "the limit was taken away";
}

TEST_F(GrowthLimit, RefusesNothingWhileDramFalls) {
  for (std::uint64_t dram = 300; dram > 161; --dram) {
    for (int i = 0; i < 9; ++i) look(dram, 160);
    EXPECT_FALSE(limit_.refuses()) << "at " << dram;
  }
  for (int i = 0; i < 11; ++i) look(175, 160);
  EXPECT_TRUE(limit_.refuses()) << "it grows again";
}

}  // namespace
}  // namespace isotherm::collector
