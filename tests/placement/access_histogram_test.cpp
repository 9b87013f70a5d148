// What counts as hot and as cold, with numbers (SINLK, 4.2.3).
#include "placement/access_histogram.hpp"

#include <gtest/gtest.h>

namespace isotherm::placement {
namespace {

/// 60 leaves that were not used, 20 used once, 10 used 3 times, 9 used 100 times and one 50,000.
access_histogram skewed() {
  access_histogram seen;
  for (int i = 0; i < 60; ++i) seen.add(0);
  for (int i = 0; i < 20; ++i) seen.add(1);
  for (int i = 0; i < 10; ++i) seen.add(3);
  for (int i = 0; i < 9; ++i) seen.add(100);
  seen.add(50'000);
  return seen;
}

TEST(AccessHistogram, HotIsTheLeastShareOfWholeBinsThatReachesTheShareAskedFor) {
  EXPECT_EQ(skewed().leaves(), 100u);
  EXPECT_EQ(skewed().choose(0.005, 0).hot, 32'768u);  // the bin of 50,000
  EXPECT_EQ(skewed().choose(0.01, 0).hot, 32'768u);
  EXPECT_EQ(skewed().choose(0.05, 0).hot, 64u);  // with that of 100
  EXPECT_EQ(skewed().choose(0.15, 0).hot, 2u);   // of 2 and 3
  EXPECT_EQ(skewed().choose(0.21, 0).hot, 1u);
}

TEST(AccessHistogram, WhatWasNotUsedIsNeverHot) { EXPECT_EQ(skewed().choose(1, 0).hot, 1u); }

TEST(AccessHistogram, ColdIsTheMostShareOfWholeBinsThatStaysBelowTheShareAskedFor) {
  EXPECT_EQ(skewed().choose(0.01, 0).cold, 0u);
  EXPECT_EQ(skewed().choose(0.01, 0.5).cold, 1u);  // the bin of 0 is more, but the first
  EXPECT_EQ(skewed().choose(0.01, 0.6).cold, 1u);
  EXPECT_EQ(skewed().choose(0.01, 0.8).cold, 2u);
  EXPECT_EQ(skewed().choose(0.01, 0.95).cold, 64u);
}

TEST(AccessHistogram, WhatIsHotIsNotCold) {
  for (const double hot : {0.005, 0.01, 0.1, 0.3, 1.0}) {
    const thresholds chosen = skewed().choose(hot, 1);
    EXPECT_EQ(chosen.cold, chosen.hot) << hot;
  }
}

TEST(AccessHistogram, OfAShareOfZeroNothingIsHotAndAllIsCold) {
  EXPECT_GT(skewed().choose(0, 1).hot, 65535u);
  EXPECT_GT(skewed().choose(0, 1).cold, 65535u);
}

TEST(AccessHistogram, TheShareThatFitsIsOfWholePathsInWholeBins) {
  access_histogram seen = skewed();
  seen.add_bytes(50'000, 1000);  // the root and the path of the one
  seen.add_bytes(100, 900);
  seen.add_bytes(3, 2000);
  seen.add_bytes(0, 60'000);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(10), 0.01) << "the most used in any case";
  EXPECT_DOUBLE_EQ(seen.share_that_fits(1899), 0.01);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(1900), 0.1);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(10'000), 0.4);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(100'000), 1);
}

TEST(AccessHistogram, OfNoLeavesNothingIsHotOrCold) {
  const thresholds chosen = access_histogram().choose(1, 1);
  EXPECT_GT(chosen.hot, 65'535u);
  EXPECT_EQ(chosen.cold, 0u);
}

}  // namespace
}  // namespace isotherm::placement
