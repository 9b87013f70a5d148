// Cuts by worth, and the misses of the busiest window, by numbers.
#include "collector/policy/worth.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "collector/policy/busy_windows.hpp"

namespace isotherm::collector {
namespace {

TEST(WorthCut, KeepsThoseOfMostWorthAsFarAsThereIsRoom) {
  bytes_by_worth bytes{};
  bytes[10] = 1000;
  bytes[20] = 400;
  bytes[30] = 100;
  EXPECT_EQ(cut_within(bytes, 2000).at, 0u);
  const worth_cut between = cut_within(bytes, 600);
  EXPECT_EQ(between.at, 10u);
  EXPECT_NEAR(static_cast<double>(between.ties) * 0x1p-64, 0.1, 1e-9);
  EXPECT_NEAR(static_cast<double>(bytes_kept(bytes, between)), 600, 1);
  EXPECT_EQ(bytes_above(bytes, 10), 500u);
}

TEST(WorthCut, KeepsNothingWithoutRoom) {
  bytes_by_worth bytes{};
  bytes[kWorths - 1] = 100;
  const worth_cut cut = cut_within(bytes, 0);
  EXPECT_EQ(bytes_kept(bytes, cut), 0u);
}

TEST(WorthCut, OfTiesTakesTheShareThatHasRoom) {
  EXPECT_EQ(ties_within(100, 100), ~std::uint64_t{0});
  EXPECT_EQ(ties_within(50, 100), std::uint64_t{1} << 63U);
  EXPECT_EQ(ties_within(0, 100), 0u);
  EXPECT_EQ(ties_of(1), ~std::uint64_t{0});
}

TEST(BusyWindows, KeepTheBusiestThroughIdleOnes) {
  busy_windows busy;
  dram_uses in_dram;
  in_dram.objects[5] = 1000;
  busy.record(1000, 40, 10, in_dram);
  EXPECT_EQ(busy.objects(), 1000u);
  EXPECT_EQ(busy.misses(), 40);
  busy.record(10, 0, 1, {});
  EXPECT_GT(busy.objects(), 900u);
  EXPECT_EQ(busy.seconds(), 10);
  EXPECT_EQ(busy.in_dram().objects[5], 1000u);
  // It has fewer misses, but not as many fewer as it has uses.
  EXPECT_GT(busy.misses(), 39);
}

TEST(BusyWindows, CountWhatWasLetGoUntilItsMissesAreSeen) {
  busy_windows busy;
  busy.record(1000, 10, 10, {});
  busy.record_leaving(90);
  busy.record(1000, 10, 10, {});
  EXPECT_EQ(busy.misses(), 100);
  busy.record(1000, 100, 10, {});
  EXPECT_EQ(busy.misses(), 100);
}

TEST(BusyWindows, AreForgottenWithTheMeaningOfWorths) {
  busy_windows busy;
  busy.record(1000, 10, 10, {});
  busy.forget();
  EXPECT_EQ(busy.objects(), 0u);
  busy.record(10, 3, 1, {});
  EXPECT_EQ(busy.misses(), 3);
}

}  // namespace
}  // namespace isotherm::collector
