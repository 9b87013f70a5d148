#include <gtest/gtest.h>

#include <limits>

#include "placement/sinlk.hpp"

namespace isotherm::placement {
namespace {

bool is_allowed(const sinlk_options& chosen) { return check(chosen).has_value(); }

TEST(SinlkOptions, DefaultsAreAllowed) { EXPECT_TRUE(is_allowed({})); }

TEST(SinlkOptions, IntervalsAreOfAMillisecondToAnHour) {
  for (std::uint32_t sinlk_options::* each :
       {&sinlk_options::trigger_ms, &sinlk_options::cooling_ms, &sinlk_options::watermark_ms}) {
    for (const std::uint32_t allowed : {1u, 3'600'000u}) {
      sinlk_options chosen;
      chosen.*each = allowed;
      EXPECT_TRUE(is_allowed(chosen)) << allowed;
    }
    for (const std::uint32_t refused :
         {0u, 3'600'001u, std::numeric_limits<std::uint32_t>::max()}) {
      sinlk_options chosen;
      chosen.*each = refused;
      ASSERT_FALSE(is_allowed(chosen)) << refused;
      EXPECT_NE(check(chosen).error().message.find("intervals"), std::string::npos);
    }
  }
}

TEST(SinlkOptions, WatermarksAreInOrder) {
  const auto with = [](double low, double high) {
    sinlk_options chosen;
    chosen.watermarks.low = low;
    chosen.watermarks.high = high;
    return is_allowed(chosen);
  };
  EXPECT_TRUE(with(0.5, 1));
  EXPECT_FALSE(with(0, 0.9));
  EXPECT_FALSE(with(0.9, 0.9));
  EXPECT_FALSE(with(0.9, 0.8));
  EXPECT_FALSE(with(0.5, 1.01));
  EXPECT_FALSE(with(std::numeric_limits<double>::quiet_NaN(), 0.9));
  EXPECT_FALSE(with(0.5, std::numeric_limits<double>::quiet_NaN()));
}

TEST(SinlkOptions, SharesAreOfOne) {
  const auto with_fast = [](double share) {
    sinlk_options chosen;
    chosen.fast.share = share;
    return is_allowed(chosen);
  };
  EXPECT_TRUE(with_fast(0));
  EXPECT_TRUE(with_fast(1));
  EXPECT_FALSE(with_fast(-0.01));
  EXPECT_FALSE(with_fast(1.01));
  EXPECT_FALSE(with_fast(std::numeric_limits<double>::quiet_NaN()));
  const auto with_trigger = [](double share) {
    sinlk_options chosen;
    chosen.trigger_share = share;
    return is_allowed(chosen);
  };
  EXPECT_TRUE(with_trigger(1));
  EXPECT_FALSE(with_trigger(0)) << "leaves would never be looked at";
  EXPECT_FALSE(with_trigger(1.01));
}

TEST(SinlkOptions, TheSizeOfFastMemoryCanBeChanged) {
  sinlk_options chosen;
  chosen.fast.bytes = 1 << 20;
  sinlk placed(chosen);
  EXPECT_EQ(placed.size().bytes, 1u << 20);
  EXPECT_FALSE(placed.size().share);
  placed.resize({.bytes = 0, .share = 0.25});
  EXPECT_EQ(placed.size().share, 0.25);
  placed.resize({.bytes = 4096});
  EXPECT_EQ(placed.size().bytes, 4096u);
  EXPECT_FALSE(placed.size().share);
}

TEST(SinlkOptions, NothingIsFastWhereThereIsNoFastMemory) {
  sinlk_options chosen;
  sinlk placed(chosen);
  EXPECT_EQ(placed.choose(64, {}), tier::slow);
}

}  // namespace
}  // namespace isotherm::placement
