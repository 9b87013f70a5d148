// The state machine of fast memory's marks, with numbers (SINLK, 4.3).
#include "placement/hyper_watermark.hpp"

#include <gtest/gtest.h>

namespace isotherm::placement {
namespace {

using order = hyper_watermark::order;

/// A fifth of the leaves fit; of five levels, the first two whole.
fast_memory_state at(double usage, bool is_done = false) {
  return {.usage = usage, .share = 0.2, .levels = {.least = 2, .most = 5}, .is_done = is_done};
}

hyper_watermark fresh_mark() { return hyper_watermark({.low = 0.85, .high = 0.95}); }

TEST(HyperWatermark, BeginsWithWhatTheSizeOfFastMemorySays) {
  hyper_watermark mark = fresh_mark();
  EXPECT_EQ(mark.check(at(0.9)), order::go_on);
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 0.2);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 0.8);
  EXPECT_GE(mark.now().fast_levels, 5u) << "all levels begin in fast memory";
}

TEST(HyperWatermark, StrainIsAnsweredAtOnceAndStepByStep) {
  hyper_watermark mark = fresh_mark();
  ASSERT_EQ(mark.check(at(0.96)), order::demote_now);
  EXPECT_TRUE(mark.is_strained());
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 0.15);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 0.85);
  EXPECT_EQ(mark.now().fast_levels, 4u);
  EXPECT_EQ(mark.now().demote_level, 4u);
  EXPECT_EQ(mark.check(at(0.97)), order::go_on) << "what was asked for is not done yet";
  EXPECT_EQ(mark.check(at(0.97, true)), order::demote_now);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 1 - 0.2 * 0.75 * 0.75);
  EXPECT_EQ(mark.now().demote_level, 3u);
}

TEST(HyperWatermark, ParametersReturnWhenTheStrainIsOver) {
  hyper_watermark mark = fresh_mark();
  mark.check(at(0.9));
  const parameters before = mark.now();
  mark.check(at(0.99));
  mark.check(at(0.98, true));
  EXPECT_EQ(mark.check(at(0.94)), order::go_on) << "demotion is still under way";
  EXPECT_TRUE(mark.is_strained());
  EXPECT_EQ(mark.check(at(0.94, true)), order::resume);
  EXPECT_FALSE(mark.is_strained());
  EXPECT_EQ(mark.now(), before);
}

// SINLK, 4.3.4: an answer that was too strong is broken off.
TEST(HyperWatermark, DemotionEndsAtOnceWhenTooMuchHasLeft) {
  hyper_watermark mark = fresh_mark();
  mark.check(at(0.96));
  EXPECT_EQ(mark.check(at(0.84)), order::resume);
  EXPECT_FALSE(mark.is_strained());
}

TEST(HyperWatermark, LevelsGoNoFurtherThanWhatFitsIntoFastMemory) {
  hyper_watermark mark = fresh_mark();
  for (int i = 0; i < 40; ++i) mark.check(at(1.2, true));
  EXPECT_EQ(mark.now().fast_levels, 2u);
  EXPECT_EQ(mark.now().demote_level, 2u);
  EXPECT_EQ(mark.now().hot_share, 0);
  EXPECT_EQ(mark.now().cold_share, 1);
}

TEST(HyperWatermark, AbundanceIsAnsweredSlowlyAndWithoutOrders) {
  hyper_watermark mark = fresh_mark();
  EXPECT_EQ(mark.check(at(0.5)), order::go_on);
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 0.21);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 0.79 * 0.95);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(mark.check(at(0.5)), order::go_on);
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 1);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 0);
  EXPECT_EQ(mark.now().fast_levels, 5u);
}

// Else what was called hot while there was room would keep its place for ever.
TEST(HyperWatermark, BetweenTheMarksWhatAbundanceHasChangedIsTakenBack) {
  hyper_watermark mark = fresh_mark();
  for (int i = 0; i < 20; ++i) mark.check(at(0.5));
  ASSERT_GT(mark.now().hot_share, 0.4);
  ASSERT_DOUBLE_EQ(mark.now().cold_share, 0);
  ASSERT_EQ(mark.now().demote_level, 5u);
  EXPECT_EQ(mark.check(at(0.9)), order::go_on);
  EXPECT_EQ(mark.now().demote_level, 4u);
  for (int i = 0; i < 40; ++i) mark.check(at(0.9));
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 0.2);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 0.8);
  EXPECT_EQ(mark.now().demote_level, 2u) << "levels that fit whole stay";
}

TEST(HyperWatermark, ATreeThatFitsIsAllHot) {
  hyper_watermark mark = fresh_mark();
  mark.check({.usage = 0.9, .share = 1, .levels = {.least = 3, .most = 3}});
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 1);
  EXPECT_DOUBLE_EQ(mark.now().cold_share, 0);
}

// Few leaves are used when traffic begins: these are hot, however small their share.
TEST(HyperWatermark, ATinyShareOfUsedLeavesIsHot) {
  hyper_watermark mark = fresh_mark();
  mark.check({.usage = 0.9, .share = 0.0001, .levels = {.least = 2, .most = 5}});
  EXPECT_DOUBLE_EQ(mark.now().hot_share, 0.0001);
  mark.check({.usage = 0.9, .share = 0, .levels = {.least = 2, .most = 5}});
  EXPECT_EQ(mark.now().hot_share, 0) << "there is no room";
  EXPECT_EQ(mark.now().cold_share, 1);
}

TEST(HyperWatermark, FollowsAnotherShareWithoutAnyAdjustment) {
  hyper_watermark mark = fresh_mark();
  mark.check(at(0.96));
  const parameters before = mark.now();
  EXPECT_DOUBLE_EQ(mark.follow(0.4).hot_share, 2 * before.hot_share);
  EXPECT_EQ(mark.now().demote_level, before.demote_level);
  EXPECT_EQ(mark.follow(0.2), before);
}

}  // namespace
}  // namespace isotherm::placement
