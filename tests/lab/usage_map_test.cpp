#include "lab/bench/usage_map.hpp"

#include <gtest/gtest.h>

namespace isotherm::lab {
namespace {

constexpr std::uintptr_t kPage = base::kPageBytes;

TEST(UsageMap, IsEmptyAtFirst) {
  const usage_map map;
  EXPECT_EQ(map.pages(), 0u);
  EXPECT_EQ(map.used_pages(), 0u);
  EXPECT_EQ(map.utilization(), 0);
}

TEST(UsageMap, UtilizationLeavesOutPagesWithoutAUsedObject) {
  usage_map map;
  map.add(10 * kPage, 1024, use::used);
  map.add(10 * kPage + 1024, 1024, use::used);
  map.add(10 * kPage + 2048, 1024, use::unused);
  map.add(11 * kPage, 1024, use::unused);
  EXPECT_EQ(map.pages(), 2u);
  EXPECT_EQ(map.used_pages(), 1u);
  EXPECT_EQ(map.used_bytes(), 2048u);
  EXPECT_EQ(map.utilization(), 0.5);
}

TEST(UsageMap, AnObjectOverAPagesEndCountsInBothPages) {
  usage_map map;
  map.add(8 * kPage - 100, 300, use::used);
  const auto pages = map.by_address();
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_EQ(pages[0].number, 7u);
  EXPECT_EQ(pages[0].used_bytes, 100u);
  EXPECT_EQ(pages[1].number, 8u);
  EXPECT_EQ(pages[1].used_bytes, 200u);
  EXPECT_EQ(map.used_pages(), 2u);
}

TEST(UsageMap, AnObjectThatEndsWithItsPageIsInNoOther) {
  usage_map map;
  map.add(5 * kPage, kPage, use::used);
  EXPECT_EQ(map.pages(), 1u);
  EXPECT_EQ(map.utilization(), 1);
}

TEST(UsageMap, ListsPagesByAddress) {
  usage_map map;
  for (const std::uintptr_t page : {9, 3, 7, 5}) map.add(page * kPage, 10, use::unused);
  std::uint64_t last = 0;
  for (const auto& each : map.by_address()) {
    EXPECT_GT(each.number, last);
    EXPECT_EQ(each.used_bytes, 0u);
    last = each.number;
  }
  EXPECT_EQ(last, 9u);
}

}  // namespace
}  // namespace isotherm::lab
