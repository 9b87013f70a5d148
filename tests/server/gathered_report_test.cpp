#include "server/gathered_report.hpp"

#include <gtest/gtest.h>

namespace isotherm::server {
namespace {

constexpr std::int64_t kStart = 1'000'000;

TEST(GatheredReport, TheFirstIsToldAtOnceAndManyInOneLine) {
  gathered_report log{"wrong password from", "wrong passwords, the last from"};
  EXPECT_FALSE(log.due(kStart));
  EXPECT_EQ(log.note("10.0.0.7:40000", kStart), "wrong password from 10.0.0.7:40000");
  for (int i = 1; i < 1000; ++i) {
    EXPECT_FALSE(log.note("10.0.0.8:" + std::to_string(i), kStart + i));
  }
  EXPECT_FALSE(log.due(kStart + gathered_report::kQuietMs - 1));
  EXPECT_EQ(log.due(kStart + gathered_report::kQuietMs),
            "999 wrong passwords, the last from 10.0.0.8:999");
  EXPECT_FALSE(log.due(kStart + 10 * gathered_report::kQuietMs));
  EXPECT_EQ(log.note("a:1", kStart + 10 * gathered_report::kQuietMs), "wrong password from a:1");
}

TEST(GatheredReport, NothingIsLeftUntold) {
  gathered_report log{"wrong password from", "wrong passwords, the last from"};
  EXPECT_TRUE(log.note("a:1", kStart));
  EXPECT_FALSE(log.note("b:2", kStart));
  EXPECT_EQ(log.rest(), "wrong password from b:2");
  EXPECT_FALSE(log.rest());
}

TEST(GatheredReport, AClockSetBackSilencesNothing) {
  gathered_report log{"wrong password from", "wrong passwords, the last from"};
  EXPECT_TRUE(log.note("a:1", kStart));
  EXPECT_TRUE(log.note("b:2", kStart - 3'600'000));
}

}  // namespace
}  // namespace isotherm::server
