#include "lab/backends/tiering/page_heat.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace isotherm::lab {
namespace {

using pages = std::vector<std::uintptr_t>;
using testing::ElementsAre;
using testing::IsEmpty;

/// Pages 1 to 4 with 1, 2, 4 and 8 accesses; page 5 was not seen.
page_heat four_bins() {
  page_heat heat;
  for (std::uintptr_t page = 1; page <= 4; ++page) heat.add(page, 1U << (page - 1));
  return heat;
}

TEST(PageHeat, HotPagesAreThoseBinsThatFit) {
  const page_heat heat = four_bins();
  EXPECT_EQ(heat.hot_from(1), 8U);
  EXPECT_EQ(heat.hot_from(3), 2U);
  EXPECT_EQ(heat.hot_from(4), 1U);
  EXPECT_EQ(heat.hot_from(100), 1U);
}

TEST(PageHeat, ABinThatDoesNotFitWholeIsNotHot) {
  page_heat heat;
  for (std::uintptr_t page = 0; page < 10; ++page) heat.add(page, 4);
  EXPECT_EQ(heat.hot_from(9), 8U);
}

TEST(PageHeat, CoolingHalvesAndForgets) {
  page_heat heat = four_bins();
  heat.cool();
  EXPECT_EQ(heat.count(1), 0U);
  EXPECT_EQ(heat.count(2), 1U);
  EXPECT_EQ(heat.count(4), 4U);
}

TEST(PageHeat, FreeMemoryTakesTheHottestPagesAndNothingLeaves) {
  const auto chosen = four_bins().choose(pages{}, pages{1, 2, 3, 4}, 2);
  EXPECT_THAT(chosen.promoted, ElementsAre(4, 3));
  EXPECT_THAT(chosen.demoted, IsEmpty());
}

TEST(PageHeat, ColdPagesMakeRoomForHotOnes) {
  // Two pages of room: pages 3 and 4 are hot, and page 2 is warm.
  const auto chosen = four_bins().choose(pages{1, 5}, pages{2, 3, 4}, 0);
  EXPECT_THAT(chosen.promoted, ElementsAre(4, 3));
  EXPECT_THAT(chosen.demoted, ElementsAre(5, 1));
}

TEST(PageHeat, AWarmPageIsNotDemotedForAHotOne) {
  // Two pages of room: from 4 accesses on a page is hot, and page 2 has half of that.
  const auto chosen = four_bins().choose(pages{2, 4}, pages{3, 5}, 0);
  EXPECT_THAT(chosen.promoted, IsEmpty());
  EXPECT_THAT(chosen.demoted, IsEmpty());
}

TEST(PageHeat, AWarmPageIsPromotedOnlyWhereMemoryIsFree) {
  page_heat heat;
  for (std::uintptr_t page = 0; page < 10; ++page) heat.add(page, 4);
  const pages slow{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(heat.choose(pages{20, 21}, slow, 3).promoted.size(), 3U);
  EXPECT_THAT(heat.choose(pages{20, 21}, slow, 0).promoted, IsEmpty());
}

}  // namespace
}  // namespace isotherm::lab
