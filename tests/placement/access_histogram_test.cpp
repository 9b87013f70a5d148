// The limits of hot and cold, with numbers (SINLK, 4.2.3).
#include "placement/access_histogram.hpp"

#include <gtest/gtest.h>

#include <utility>

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
  seen.add_bytes(50'000, tier::slow, 1000);  // the root and the path of the one
  seen.add_bytes(100, tier::slow, 900);
  seen.add_bytes(3, tier::slow, 2000);
  seen.add_bytes(0, tier::slow, 60'000);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(10), 0.01) << "the most used in any case";
  EXPECT_DOUBLE_EQ(seen.share_that_fits(1899), 0.01);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(1900), 0.1);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(10'000), 0.4);
  EXPECT_DOUBLE_EQ(seen.share_that_fits(100'000), 1);
  EXPECT_EQ(seen.share_that_fits(0), 0);
}

/// Slow memory that was used 100 times and 3 times, fast memory that was used 40 times, once and
/// not at all.
access_histogram mixed() {
  access_histogram seen;
  seen.add_bytes(100, tier::slow, 500);
  seen.add_bytes(3, tier::slow, 2000);
  seen.add_bytes(40, tier::fast, 300);
  seen.add_bytes(1, tier::fast, 400);
  seen.add_bytes(0, tier::fast, 200);
  return seen;
}

TEST(AccessHistogram, WhatIsUsedTwiceAsOftenTakesThePlaceOfWhatIsUsedLess) {
  const auto limits_of = [](std::uint32_t hot, std::uint64_t free) {
    const thresholds found = mixed().choose_exchange({.hot = hot, .cold = hot}, free);
    return std::pair(found.hot, found.cold);
  };
  EXPECT_EQ(limits_of(2, 2300), std::pair(2u, 1u)) << "all of it has room, but for 200 bytes";
  EXPECT_EQ(limits_of(2, 2299), std::pair(4u, 2u)) << "what was used 3 times has not";
  EXPECT_EQ(limits_of(64, 0), std::pair(64u, 32u)) << "more than 500 bytes may leave";
  EXPECT_EQ(limits_of(65'536, 10'000), std::pair(65'536u, 0u)) << "nothing is hot";
}

TEST(AccessHistogram, WhereNothingIsUsedLessNothingIsToLeave) {
  access_histogram seen;
  seen.add_bytes(100, tier::slow, 500);
  seen.add_bytes(60, tier::fast, 500);
  EXPECT_GT(seen.choose_exchange({.hot = 64, .cold = 64}, 400).hot, 64u);
  EXPECT_EQ(seen.choose_exchange({.hot = 64, .cold = 64}, 500).hot, 64u);
}

TEST(AccessHistogram, OfNoLeavesNothingIsHotOrCold) {
  const thresholds chosen = access_histogram().choose(1, 1);
  EXPECT_GT(chosen.hot, 65'535u);
  EXPECT_EQ(chosen.cold, 0u);
}

}  // namespace
}  // namespace isotherm::placement
