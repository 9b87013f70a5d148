#include "collector/window/compaction.hpp"

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

TEST(Compaction, OfHotIsOfWhatIsDeadBeyondItsShareOrOfWhatIsShort) {
  EXPECT_LE(hot_bytes_to_gain({.live_bytes = 93 * kMiB, .used_bytes = 100 * kMiB}, 0), 1u);
  EXPECT_NEAR(static_cast<double>(
                  hot_bytes_to_gain({.live_bytes = 60 * kMiB, .used_bytes = 100 * kMiB}, 0)),
              33.0 * kMiB, 2);
  EXPECT_EQ(hot_bytes_to_gain({.live_bytes = 95 * kMiB, .used_bytes = 100 * kMiB}, 3 * kMiB),
            3 * kMiB);
  EXPECT_EQ(hot_bytes_to_gain({.live_bytes = 90 * kMiB, .used_bytes = 100 * kMiB}, 50 * kMiB),
            10 * kMiB);
  EXPECT_EQ(hot_bytes_to_gain({.live_bytes = 0, .used_bytes = 0}, 50 * kMiB), 0u);
}

}  // namespace
}  // namespace isotherm::collector
