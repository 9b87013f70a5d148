// Writes to the device behind COLD, by numbers.
#include "collector/policy/write_cost.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
/// Writes of 100 MB/s, reads of 1 GB/s.
constexpr device_costs device_of(double interference) { return {1e8, 1e9, interference}; }

TEST(WriteBudget, LetsReadsLoseATwentieth) {
  // One writer halves the reads: in a tenth of the time they lose a twentieth.
  EXPECT_DOUBLE_EQ(write_budget(device_of(1)), 1e7);
  // It takes a fifth of them: a quarter of the time.
  EXPECT_DOUBLE_EQ(write_budget(device_of(0.25)), 2.5e7);
  // It takes nearly all.
  EXPECT_NEAR(write_budget(device_of(1e9)), 5e6, 1);
}

TEST(WriteBudget, IsHalfOfTheDeviceAtMost) {
  EXPECT_DOUBLE_EQ(write_budget(device_of(0)), 5e7);
  EXPECT_DOUBLE_EQ(write_budget(device_of(0.1)), 5e7);
}

TEST(WriteBudget, KeepsApartWhatInterferes) {
  EXPECT_FALSE(keeps_apart(device_of(0)));
  EXPECT_FALSE(keeps_apart(device_of(0.05)));
  EXPECT_TRUE(keeps_apart(device_of(0.2)));
}

TEST(PayingTime, IsThatOfRewritingColdWithinTheBudget) {
  // 1 GB at 10 MB/s of writes and 1 GB/s of reads.
  EXPECT_DOUBLE_EQ(paying_seconds(device_of(1), 1'000'000'000), 101);
  EXPECT_DOUBLE_EQ(paying_seconds(device_of(0), 1'000'000'000), 21);
  EXPECT_DOUBLE_EQ(paying_seconds(device_of(1), 0), 0) << "the first objects may go at once";
}

TEST(PayingTime, AsARateOfUse) {
  EXPECT_EQ(rate_of_rest(0, 10), kRates - 1) << "any object rests for no time";
  EXPECT_EQ(rate_of_rest(10, 10), kRates - 1);
  EXPECT_EQ(rate_of_rest(20, 10), kRates - 1 - kRatesPerOctave);
  EXPECT_EQ(rate_of_rest(40, 10), kRates - 1 - 2 * kRatesPerOctave);
  EXPECT_EQ(rate_of_rest(1e12, 10), 0);
}

TEST(WriteAllowance, GrowsWithTimeUpToAWindow) {
  write_allowance allowed;
  allowed.begin_window(device_of(1), 10);
  allowed.grow(1000 * kSecond);
  EXPECT_EQ(allowed.left(), 100'000'000U) << "a window's, however long nothing was written";
  allowed.take(100'000'000);
  EXPECT_FALSE(allowed.is_left());
  allowed.grow(1002 * kSecond);
  EXPECT_EQ(allowed.left(), 20'000'000U);
  allowed.begin_window(device_of(1), 1);
  EXPECT_EQ(allowed.left(), 10'000'000U) << "of a shorter window";
}

TEST(WriteAllowance, TheLastObjectIsTakenFromWhatComesNext) {
  write_allowance allowed;
  allowed.begin_window(device_of(1), 1);
  allowed.grow(kSecond);
  allowed.take(25'000'000);
  EXPECT_EQ(allowed.left(), 0U);
  allowed.grow(2 * kSecond);
  EXPECT_FALSE(allowed.is_left());
  allowed.grow(3 * kSecond);
  EXPECT_EQ(allowed.left(), 5'000'000U);
}

TEST(WriteAllowance, WithoutADeviceIsWithoutEnd) {
  write_allowance allowed;
  EXPECT_TRUE(allowed.is_left());
  allowed.begin_window(std::nullopt, 10);
  allowed.take(~std::uint64_t{0});
  EXPECT_TRUE(allowed.is_left());
  EXPECT_EQ(allowed.left(), ~std::uint64_t{0});
}

}  // namespace
}  // namespace isotherm::collector
