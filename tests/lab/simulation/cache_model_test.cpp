// The modelled cache, line by line.
#include "lab/simulation/cache_model.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kOneSet = cache_model::kLineBytes * cache_model::kWays;

TEST(CacheModel, OfNoBytesNeverHits) {
  cache_model none(0);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_FALSE(none.use(0));
  EXPECT_FALSE(none.use(0));
}

TEST(CacheModel, ALineHitsFromItsSecondUseOn) {
  cache_model cache(kOneSet);
  EXPECT_EQ(cache.bytes(), kOneSet);
  EXPECT_FALSE(cache.use(0));
  EXPECT_TRUE(cache.use(0));
  EXPECT_FALSE(cache.use(1));
  EXPECT_TRUE(cache.use(0));
}

TEST(CacheModel, ASetLosesTheLineThatWasUsedLongestAgo) {
  cache_model cache(kOneSet);
  for (unsigned line = 0; line < cache_model::kWays; ++line) cache.use(line);
  EXPECT_TRUE(cache.use(0));
  EXPECT_FALSE(cache.use(1000)) << "takes the place of 1";
  EXPECT_TRUE(cache.use(0));
  EXPECT_FALSE(cache.use(1));
  EXPECT_FALSE(cache.use(2)) << "which 1 has replaced";
}

TEST(CacheModel, HoldsNearlyAsManyLinesAsItHasRoomFor) {
  cache_model cache(std::uint64_t{1} << 20);
  const std::uint64_t lines = cache.bytes() / cache_model::kLineBytes / 2;
  for (std::uint64_t line = 0; line < lines; ++line) cache.use(line);
  std::uint64_t hits = 0;
  for (std::uint64_t line = 0; line < lines; ++line) hits += cache.use(line);
  EXPECT_GT(hits, lines * 99 / 100) << "few sets are asked for more than they hold";
  EXPECT_LE(hits, lines);
}

}  // namespace
}  // namespace isotherm::lab
