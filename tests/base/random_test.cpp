#include "base/random.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace isotherm::base {
namespace {

TEST(Random, SameSeedSameNumbers) {
  random a(7), b(7), c(8);
  const std::uint64_t first = a();
  EXPECT_EQ(first, b());
  EXPECT_NE(first, c());
}

TEST(Random, BelowStaysBelowAndReachesAll) {
  random numbers(1);
  std::vector<int> seen(10);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t n = numbers.below(10);
    ASSERT_LT(n, 10u);
    ++seen[n];
  }
  for (const int count : seen) EXPECT_GT(count, 800);
}

TEST(Random, UnitIsInRange) {
  random numbers(2);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double u = numbers.unit();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.02);
}

TEST(Random, MixHasNoEasyCollisions) {
  std::set<std::uint64_t> values;
  for (std::uint64_t i = 0; i < 10'000; ++i) values.insert(mix64(i));
  EXPECT_EQ(values.size(), 10'000u);
}

}  // namespace
}  // namespace isotherm::base
