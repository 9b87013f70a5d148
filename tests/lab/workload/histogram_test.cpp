#include "lab/workload/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace isotherm::workload {
namespace {

TEST(Histogram, BucketsFollowEachOtherWithoutGaps) {
  for (std::size_t bucket = 0; bucket < histogram::bucket_of(histogram::kLargest); ++bucket) {
    const std::uint64_t lower = histogram::lower_of(bucket);
    const std::uint64_t upper = histogram::upper_of(bucket);
    ASSERT_LE(lower, upper);
    ASSERT_EQ(histogram::bucket_of(lower), bucket);
    ASSERT_EQ(histogram::bucket_of(upper), bucket);
    ASSERT_EQ(histogram::bucket_of(upper + 1), bucket + 1);
    ASSERT_LE(upper - lower, lower / 1024) << "three significant digits";
  }
}

TEST(Histogram, SmallValuesAreExact) {
  for (std::uint64_t value = 0; value < 2048; ++value) {
    ASSERT_EQ(histogram::lower_of(histogram::bucket_of(value)), value);
    ASSERT_EQ(histogram::upper_of(histogram::bucket_of(value)), value);
  }
}

TEST(Histogram, QuantilesMatchSortedSamples) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  base::random random(kSeed);
  std::vector<std::uint64_t> samples;
  histogram counted;
  for (int i = 0; i < 50'000; ++i) {
    // Log-uniform over 1 ns .. about 18 minutes: every size of bucket is used.
    const auto value = static_cast<std::uint64_t>(std::exp2(random.unit() * 40));
    samples.push_back(value);
    counted.record(value);
  }
  std::ranges::sort(samples);
  for (const double share : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const auto rank = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size()))));
    const std::uint64_t truth = samples[rank - 1];
    const std::uint64_t answer = counted.quantile(share);
    EXPECT_GE(answer, truth) << share;
    EXPECT_LE(answer, truth + truth / 1024 + 1) << share;
  }
  EXPECT_EQ(counted.largest(), samples.back());
  EXPECT_EQ(counted.quantile(1), samples.back());
}

TEST(Histogram, MergedEqualsRecordedTogether) {
  base::random random(11);
  histogram one, two, both;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random.below(1'000'000'000);
    (i % 3 ? one : two).record(value);
    both.record(value);
  }
  one.merge(two);
  EXPECT_EQ(one.count(), both.count());
  EXPECT_DOUBLE_EQ(one.mean(), both.mean());
  EXPECT_EQ(one.largest(), both.largest());
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(one.quantile(i / 1000.0), both.quantile(i / 1000.0));
}

TEST(Histogram, ValuesBeyondTheLargestAreKeptAsTheLargest) {
  histogram counted;
  counted.record(~std::uint64_t{0});
  EXPECT_EQ(counted.quantile(0.5), histogram::kLargest);
  counted.clear();
  EXPECT_EQ(counted.count(), 0u);
  EXPECT_EQ(counted.quantile(0.5), 0u);
}

TEST(Histogram, TheDifferenceOfTwoLooksIsWhatCameBetween) {
  base::random random(13);
  live_histogram counted;
  histogram later;
  for (int i = 0; i < 10'000; ++i) counted.record(random.below(1'000'000'000));
  const histogram before = counted.read();
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random.below(1'000'000);
    counted.record(value);
    later.record(value);
  }
  histogram between = counted.read();
  EXPECT_EQ(between.count(), 20'000u);
  between.subtract(before);
  EXPECT_EQ(between.count(), later.count());
  EXPECT_DOUBLE_EQ(between.mean(), later.mean());
  EXPECT_EQ(histogram::bucket_of(between.largest()), histogram::bucket_of(later.largest()))
      << "not the largest of before";
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(between.quantile(i / 1000.0), later.quantile(i / 1000.0));
  }
}

}  // namespace
}  // namespace isotherm::workload
