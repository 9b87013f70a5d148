// Which band of HOT an object belongs to, by its rate of use.
#include "collector/policy/order.hpp"

#include <gtest/gtest.h>

namespace isotherm::collector {
namespace {

TEST(BandOf, SpansTwoOctaves) {
  EXPECT_EQ(band_of(rate_of(1.0)), 0);
  EXPECT_EQ(band_of(rate_of(0.51)), 0);
  EXPECT_EQ(band_of(rate_of(0.49)), 1);
  EXPECT_EQ(band_of(rate_of(0.13)), 1);
  EXPECT_EQ(band_of(rate_of(0.12)), 2);
  EXPECT_EQ(band_of(rate_of(0.032)), 2);
  EXPECT_EQ(band_of(rate_of(0.031)), heap::kColdestBand);
  EXPECT_EQ(band_of(0), heap::kColdestBand);
}

TEST(BandOf, AnObjectLeavesItsBandOnlyWhenItsRateIsClearlyAnothers) {
  EXPECT_EQ(band_of(rate_of(0.45), 0), 0);
  EXPECT_EQ(band_of(rate_of(0.55), 1), 1);
  EXPECT_EQ(band_of(rate_of(0.34), 0), 1);
  EXPECT_EQ(band_of(rate_of(0.72), 1), 0);
  EXPECT_EQ(band_of(rate_of(0.001), 0), heap::kColdestBand);
  EXPECT_EQ(band_of(rate_of(1.0), heap::kColdestBand), 0);
}

// An object stays in the band to which it goes, as long as its rate stays the same.
TEST(BandOf, IsTheBandThatItWouldStayIn) {
  for (unsigned r = 0; r < kRates; ++r) {
    const auto known = static_cast<rate>(r);
    ASSERT_EQ(band_of(known, band_of(known)), band_of(known)) << r;
    if (r > 0) ASSERT_LE(band_of(known), band_of(static_cast<rate>(r - 1))) << r;
  }
}

}  // namespace
}  // namespace isotherm::collector
