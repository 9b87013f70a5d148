#include "collector/compaction.hpp"

#include <gtest/gtest.h>

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Compaction, IsWorthItWhenHalfOfMuchIsDead) {
  EXPECT_FALSE(is_worth_compacting({.live_bytes = 51 * kMiB, .used_bytes = 100 * kMiB}, 0.5));
  EXPECT_TRUE(is_worth_compacting({.live_bytes = 49 * kMiB, .used_bytes = 100 * kMiB}, 0.5));
  EXPECT_FALSE(is_worth_compacting({.live_bytes = 1 * kMiB, .used_bytes = 8 * kMiB}, 0.5));
}

TEST(Compaction, ReadsNoMoreThanTheDeviceIsAskedForOrAHalfOfWhatIsPromoted) {
  options chosen;
  chosen.misses_per_second = 1000;
  window_statistics seen;
  seen.window_seconds = 10;
  EXPECT_EQ(compaction_bytes(chosen, seen, 500), 5'000'000u);
  seen.promoted.bytes = 30'000'000;
  EXPECT_EQ(compaction_bytes(chosen, seen, 500), 15'000'000u);
  chosen.misses_per_second = 0;
  seen.promoted.bytes = 0;
  EXPECT_EQ(compaction_bytes(chosen, seen, 500), chosen.batch_bytes);
}

}  // namespace
}  // namespace isotherm::collector
