#include "collector/window/compaction.hpp"

#include <gtest/gtest.h>

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(Compaction, OfColdBearsADeadQuarterAndSomeMoreUntilAPassIsWorthIt) {
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 760 * kMiB, .used_bytes = 1000 * kMiB}), 0u);
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 730 * kMiB, .used_bytes = 1000 * kMiB}), 0u);
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 700 * kMiB, .used_bytes = 1000 * kMiB}), 50 * kMiB);
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 1 * kMiB, .used_bytes = 4 * kMiB}), 0u);
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 0, .used_bytes = 0}), 0u);
}

TEST(Compaction, OfColdMovesASixteenthOfItOr16MiBAtMost) {
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 100 * kMiB, .used_bytes = 1600 * kMiB}), 100 * kMiB);
  EXPECT_EQ(cold_bytes_to_move({.live_bytes = 4 * kMiB, .used_bytes = 40 * kMiB}), 16 * kMiB);
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
