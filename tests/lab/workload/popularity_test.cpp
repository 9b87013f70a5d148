#include "lab/workload/popularity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace isotherm::workload {
namespace {

TEST(Popularity, OfUniformKeysIsTheirShare) {
  const popularity of({.which = distribution::uniform}, 4);
  EXPECT_DOUBLE_EQ(of.share_of_top(0), 0);
  EXPECT_DOUBLE_EQ(of.share_of_top(1), 0.25);
  EXPECT_DOUBLE_EQ(of.share_of_top(4), 1);
  EXPECT_DOUBLE_EQ(of.share_of_top(9), 1);
  EXPECT_DOUBLE_EQ(popularity({.which = distribution::sequential}, 4).share_of_top(1), 0.25);
}

TEST(Popularity, OfAHotspotByHand) {
  key_choice choice{.which = distribution::hotspot, .hotspot_keys = 0.2, .hotspot_accesses = 0.8};
  const popularity of(choice, 10);  // two keys of 0.4 each, eight of 0.025
  EXPECT_DOUBLE_EQ(of.share_of_top(1), 0.4);
  EXPECT_DOUBLE_EQ(of.share_of_top(2), 0.8);
  EXPECT_DOUBLE_EQ(of.share_of_top(6), 0.9);
  choice.hotspot_accesses = 0;  // the others are the popular ones
  EXPECT_DOUBLE_EQ(popularity(choice, 10).share_of_top(8), 1);
  choice.hotspot_keys = 1;
  EXPECT_DOUBLE_EQ(popularity(choice, 10).share_of_top(5), 0.5);
}

TEST(Popularity, OfPermutedKeysIsThatOfTheirRanks) {
  const popularity of({.which = distribution::permuted}, 1000);
  EXPECT_DOUBLE_EQ(of.share_of_top(1), 1 / zeta(1000, 0.99));
  EXPECT_DOUBLE_EQ(of.share_of_top(2), zeta(2, 0.99) / zeta(1000, 0.99));
}

TEST(Popularity, OfOneRankIsItsPartOfTheTop) {
  constexpr std::uint64_t kKeys = 1000;
  for (const key_choice& choice : {key_choice{},
                                   {.which = distribution::permuted},
                                   {.which = distribution::uniform},
                                   {.which = distribution::latest, .theta = 1.07},
                                   {.which = distribution::exponential},
                                   {.which = distribution::sequential},
                                   {.which = distribution::hotspot}}) {
    const popularity of(choice, kKeys);
    double sum = 0;
    for (std::uint64_t rank = 0; rank < kKeys; ++rank) {
      if (rank > 0) ASSERT_LE(of.chance_of(rank), of.chance_of(rank - 1) * (1 + 1e-9));
      sum += of.chance_of(rank);
      ASSERT_NEAR(sum, of.share_of_top(rank + 1), 1e-9) << name_of(choice.which) << ' ' << rank;
    }
  }
}

/// The keys drawn most often are those said to be popular.
TEST(Popularity, AgreesWithTheDraws) {
  constexpr std::uint64_t kKeys = 1000, kSeed = 42;
  constexpr int kDraws = 1'000'000;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const key_choice& choice : {key_choice{},
                                   {.theta = 1.07},
                                   {.which = distribution::permuted},
                                   {.which = distribution::permuted, .theta = 1.07},
                                   {.which = distribution::latest},
                                   {.which = distribution::exponential},
                                   {.which = distribution::hotspot}}) {
    const key_chooser chooser(choice, kKeys);
    base::random random(kSeed);
    std::vector<std::uint64_t> counts(kKeys);
    for (int i = 0; i < kDraws; ++i) ++counts[chooser(random)];
    std::ranges::sort(counts, std::greater());
    const popularity of(choice, kKeys);
    double drawn = 0;
    for (std::uint64_t records = 1; records <= kKeys; ++records) {
      drawn += static_cast<double>(counts[records - 1]) / kDraws;
      // The order by counts flatters the counts a little.
      ASSERT_NEAR(of.share_of_top(records), drawn, 0.01) << name_of(choice.which) << ' ' << records;
    }
  }
}

}  // namespace
}  // namespace isotherm::workload
