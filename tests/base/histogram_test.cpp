#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace isotherm::base {
namespace {

using live = live_histogram<11, 42>;
using seen_histogram = live::read_histogram;

template <class Buckets>
void expect_no_gaps(std::uint64_t parts) {
  for (std::size_t bucket = 0; bucket + 1 < Buckets::kCount; ++bucket) {
    const std::uint64_t lower = Buckets::lower_of(bucket);
    const std::uint64_t upper = Buckets::upper_of(bucket);
    ASSERT_LE(lower, upper);
    ASSERT_EQ(Buckets::of(lower), bucket);
    ASSERT_EQ(Buckets::of(upper), bucket);
    ASSERT_EQ(Buckets::of(upper + 1), bucket + 1);
    ASSERT_LE(upper - lower, lower / parts);
  }
  EXPECT_EQ(Buckets::of(Buckets::kLargest), Buckets::kCount - 1);
  EXPECT_EQ(Buckets::of(~std::uint64_t{0}), Buckets::kCount - 1);
}

TEST(Histogram, BucketsFollowEachOtherWithoutGaps) {
  expect_no_gaps<live::buckets>(1024);
  expect_no_gaps<log_buckets<3, 41>>(4);
}

TEST(Histogram, SmallValuesAreExact) {
  for (std::uint64_t value = 0; value < 2048; ++value) {
    ASSERT_EQ(live::buckets::lower_of(live::buckets::of(value)), value);
    ASSERT_EQ(live::buckets::upper_of(live::buckets::of(value)), value);
  }
}

TEST(Histogram, QuantilesMatchSortedSamples) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  isotherm::base::random random(kSeed);
  std::vector<std::uint64_t> samples;
  live recorded;
  for (int i = 0; i < 50'000; ++i) {
    // Log-uniform over 1 ns .. about 18 minutes: every size of bucket is used.
    const auto value = static_cast<std::uint64_t>(std::exp2(random.unit() * 40));
    samples.push_back(value);
    recorded.record(value);
  }
  const seen_histogram counted = recorded.read();
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
  isotherm::base::random random(11);
  live first, second, together;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random.below(1'000'000'000);
    (i % 3 ? first : second).record(value);
    together.record(value);
  }
  seen_histogram one = first.read();
  const seen_histogram both = together.read();
  one.merge(second.read());
  EXPECT_EQ(one.count(), both.count());
  EXPECT_DOUBLE_EQ(one.mean(), both.mean());
  EXPECT_EQ(one.largest(), both.largest());
  for (int i = 0; i <= 1000; ++i) EXPECT_EQ(one.quantile(i / 1000.0), both.quantile(i / 1000.0));
}

TEST(Histogram, ValuesBeyondTheLargestAreKeptAsTheLargest) {
  live recorded;
  EXPECT_EQ(recorded.read().quantile(0.5), 0u);
  recorded.record(live::buckets::kLargest + 1000);
  const seen_histogram counted = recorded.read();
  EXPECT_EQ(counted.quantile(0.5), live::buckets::kLargest);
  EXPECT_EQ(counted.sum(), live::buckets::kLargest + 1000);
}

TEST(Histogram, TheDifferenceOfTwoLooksIsWhatCameBetween) {
  isotherm::base::random random(13);
  live counted, recorded_later;
  for (int i = 0; i < 10'000; ++i) counted.record(random.below(1'000'000'000));
  const seen_histogram before = counted.read();
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t value = random.below(1'000'000);
    counted.record(value);
    recorded_later.record(value);
  }
  const seen_histogram later = recorded_later.read();
  seen_histogram between = counted.read();
  EXPECT_EQ(between.count(), 20'000u);
  between.subtract(before);
  EXPECT_EQ(between.count(), later.count());
  EXPECT_DOUBLE_EQ(between.mean(), later.mean());
  EXPECT_EQ(live::buckets::of(between.largest()), live::buckets::of(later.largest()))
      << "not the largest of before";
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(between.quantile(i / 1000.0), later.quantile(i / 1000.0));
  }
}

}  // namespace
}  // namespace isotherm::base
