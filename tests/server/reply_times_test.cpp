#include "server/timing/reply_times.hpp"

#include <gtest/gtest.h>

namespace isotherm::server {
namespace {

std::uint64_t quantile_us_of(std::initializer_list<std::uint64_t> times_ns, double share) {
  reply_times times;
  for (const std::uint64_t each : times_ns) times.record(each);
  return quantile_us(times.read(), share);
}

TEST(ReplyTimes, NothingWasRecorded) { EXPECT_EQ(quantile_us_of({}, 0.99), 0u); }

TEST(ReplyTimes, AQuantileIsTheEndOfItsBucket) {  // 1024 ns, rounded up
  EXPECT_EQ(quantile_us_of({900, 900, 900, 70'000}, 0.5), 2u);
  EXPECT_EQ(quantile_us_of({900, 900, 900, 70'000}, 0.75), 2u);
  EXPECT_EQ(quantile_us_of({900, 900, 900, 70'000}, 0.76), 82u);  // 5/4 of 2^16 ns
}

TEST(ReplyTimes, NoTimeIsToldMoreThanAQuarterTooLong) {
  for (std::uint64_t ns = 8000; ns < (std::uint64_t{1} << 38); ns += ns / 7) {
    const std::uint64_t told = quantile_us_of({ns}, 1);
    EXPECT_GE(told * 1000, ns);
    EXPECT_LE(told, ns / 1000 * 5 / 4 + 2) << ns;
  }
}

TEST(ReplyTimes, TheGreatestTimeIsCounted) {
  EXPECT_GT(quantile_us_of({~std::uint64_t{0}}, 1), std::uint64_t{1} << 29);
}

TEST(ReplyTimes, ThoseOfSeveralLoopsAddUp) {
  reply_times one, other;
  one.record(900);
  other.record(70'000);
  reply_counts counts = one.read();
  counts.merge(other.read());
  EXPECT_EQ(quantile_us(counts, 0.5), 2u);
  EXPECT_EQ(quantile_us(counts, 1), 82u);
}

}  // namespace
}  // namespace isotherm::server
