// The policies, by numbers.
#include <gtest/gtest.h>

#include <limits>

#include "collector/policy/page_out.hpp"
#include "collector/policy/published.hpp"
#include "collector/policy/threshold.hpp"
#include "collector/scan/touched_pages.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

using guides::make_word;
using heap::kind;

guides::word with(kind where, bool accessed, unsigned inactive) {
  return make_word(0x1000, where, 16) | (accessed ? guides::kAccessed : 0) |
         guides::word{inactive} << guides::kInactiveShift;
}

TEST(Threshold, MovesByOneAndStaysInBounds) {
  EXPECT_EQ(next_threshold(3, 0.02, 0.01), 4u);
  EXPECT_EQ(next_threshold(3, 0.005, 0.01), 2u);
  EXPECT_EQ(next_threshold(3, 0.01, 0.01), 3u);
  EXPECT_EQ(next_threshold(31, 1.0, 0.01), 31u);
  EXPECT_EQ(next_threshold(1, 0.0, 0.01), 1u);
}

TEST(Threshold, PromotionRateIsScaledToAMinute) {
  EXPECT_DOUBLE_EQ(promotion_rate(10, 1000, 120), 0.005);
  EXPECT_DOUBLE_EQ(promotion_rate(10, 1000, 6), 0.1);
  EXPECT_DOUBLE_EQ(promotion_rate(0, 1000, 6), 0.0);
  EXPECT_DOUBLE_EQ(promotion_rate(0, 0, 6), 0.0) << "an idle window has no rate";
}

TEST(Threshold, ARateOfColdSaysNothingWhileMoreCameThanWasThere) {
  EXPECT_FALSE(was_watched(0, 0));
  EXPECT_FALSE(was_watched(100, 0));
  EXPECT_FALSE(was_watched(100, 49));
  EXPECT_TRUE(was_watched(100, 50));
  EXPECT_TRUE(was_watched(100, 200));
}

TEST(PublishedPolicy, UsedObjectsGoToHot) {
  for (const kind where : {kind::newborn, kind::cold}) {
    const guides::word used = with(where, true, 9);
    EXPECT_EQ(aged_by_windows(used), with(where, false, 0));
    EXPECT_EQ(target_by_windows(aged_by_windows(used), 3), kind::hot);
    EXPECT_EQ(target_by_windows(used, 3), kind::hot) << "used since it was aged";
  }
  const guides::word hot = aged_by_windows(with(kind::hot, true, 2));
  EXPECT_EQ(hot, with(kind::hot, false, 0));
  EXPECT_FALSE(target_by_windows(hot, 3));
  EXPECT_FALSE(target_by_windows(with(kind::hot, true, 31), 3));
}

TEST(PublishedPolicy, IdleObjectsGoToColdAtTheThreshold) {
  for (const kind where : {kind::newborn, kind::hot}) {
    for (unsigned threshold = kMinThreshold; threshold <= kMaxThreshold; ++threshold) {
      for (unsigned inactive = 0; inactive <= 31; ++inactive) {
        const guides::word aged = aged_by_windows(with(where, false, inactive));
        const unsigned now = inactive == 31 ? 31 : inactive + 1;
        ASSERT_EQ(guides::inactive_of(aged), now);
        // Also at 31, where the counter saturates: the papers' "> 32" would never demote.
        ASSERT_EQ(target_by_windows(aged, threshold).has_value(), now >= threshold)
            << inactive << ' ' << threshold;
      }
    }
  }
}

TEST(PublishedPolicy, ColdObjectsAtRestStayThere) {
  EXPECT_FALSE(target_by_windows(aged_by_windows(with(kind::cold, false, 5)), 3));
}

TEST(PageOut, ColdRestsItsPagesTimesTheWindowOverTheUsedOnes) {
  EXPECT_EQ(mean_rest_seconds(1000, 10, 2), 200);
  EXPECT_EQ(mean_rest_seconds(0, 10, 2), 0);
  EXPECT_EQ(mean_rest_seconds(1000, 0, 2), std::numeric_limits<double>::infinity());
}

TEST(PageOut, TheGateOpensAtTheTargetRateOrWhenPagesRestLongEnough) {
  EXPECT_TRUE(may_leave(0.01, 0.01, 1, 60));
  EXPECT_FALSE(may_leave(0.011, 0.01, 59, 60));
  EXPECT_TRUE(may_leave(5, 0.01, 60, 60));
}

TEST(PageOut, AllowanceHalvesWhilePagesComeBackSoonAndRecovers) {
  constexpr std::uint64_t kMiB = 1 << 20;
  EXPECT_FALSE(hurts(0, 60, 60));
  EXPECT_FALSE(hurts(kPressureLimit, 60, 60));
  EXPECT_TRUE(hurts(kPressureLimit + 1, 60, 60));
  EXPECT_TRUE(hurts(0, 59, 60));
  EXPECT_EQ(more(~std::uint64_t{0}, 64 * kMiB), 64 * kMiB);
  EXPECT_EQ(less(64 * kMiB, 64 * kMiB), 32 * kMiB);
  EXPECT_EQ(more(8 * kMiB, 64 * kMiB), 16 * kMiB);
  EXPECT_EQ(more(40 * kMiB, 64 * kMiB), 64 * kMiB);
  EXPECT_EQ(less(kMiB, 64 * kMiB), kMiB);
}

TEST(TouchedPages, TellsPagesThatWereReadPast) {
  touched_pages pages;
  const auto* base = reinterpret_cast<const char*>(heap::range_of(kind::cold).begin);
  pages.add(kind::cold, base + 16, 100, usage_path::read_past);
  pages.add(kind::cold, base + 200, 100, usage_path::read_past);
  pages.add(kind::cold, base + 4096, 100, usage_path::in_place);
  EXPECT_EQ(pages.count(kind::cold), 2u);
  EXPECT_EQ(pages.count_read_past(), 1u);
  pages.clear();
  EXPECT_EQ(pages.count_read_past(), 0u);
}

TEST(TouchedPages, CountsEachPageOnceAndStraddlersTwice) {
  touched_pages pages;
  const auto* base = reinterpret_cast<const char*>(heap::range_of(kind::hot).begin);
  pages.add(kind::hot, base + 16, 100);
  pages.add(kind::hot, base + 200, 100);
  EXPECT_EQ(pages.count(), 1u);
  pages.add(kind::hot, base + 4000, 200);
  EXPECT_EQ(pages.count(kind::hot), 2u);
  pages.add(kind::hot, base + 10 * 4096, 4096);
  EXPECT_EQ(pages.count(kind::hot), 3u);
  EXPECT_EQ(pages.count(kind::cold), 0u);
  pages.clear();
  EXPECT_EQ(pages.count(), 0u);
  pages.add(kind::hot, base, 0);
  EXPECT_EQ(pages.count(), 1u);
}

}  // namespace
}  // namespace isotherm::collector
