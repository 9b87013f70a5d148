#include "lab/tlb/region.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace isotherm::lab {
namespace {

constexpr std::uint64_t kBytes = 4 << 20;

TEST(MemoryRegion, WalksComeByEachLineOfBothOrders) {
  auto region = memory_region::make(kBytes, page_size::small);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->bytes(), kBytes);
  const std::vector<std::uint32_t> one{7, 3, 65'535, 0}, other{3, 1, 2};
  region->link(one, layout::scattered);
  region->link(other, layout::clustered);
  for (const std::uint64_t passes : {1U, 3U}) {
    for (const access_kind kind : {access_kind::dependent, access_kind::independent}) {
      EXPECT_EQ(region->walk(one, layout::scattered, kind, passes), checked_sum(one, kind, passes));
      EXPECT_EQ(region->walk(other, layout::clustered, kind, passes),
                checked_sum(other, kind, passes));
    }
  }
  EXPECT_EQ(checked_sum(one, access_kind::independent, 2), 2 * (7U + 3 + 65'535));
}

TEST(MemoryRegion, AWalkOfTheWrongOrderIsFoundOut) {
  auto region = memory_region::make(kBytes, page_size::small);
  ASSERT_TRUE(region.has_value());
  const std::vector<std::uint32_t> order{7, 3, 5};
  region->link(std::vector<std::uint32_t>{7, 3, 5, 4}, layout::scattered);
  for (const access_kind kind : {access_kind::dependent, access_kind::independent}) {
    EXPECT_NE(region->walk(order, layout::scattered, kind, 1), checked_sum(order, kind, 1));
  }
}

TEST(MemoryRegion, SmallPagesStaySmall) {
  const auto region = memory_region::make(kBytes, page_size::small);
  ASSERT_TRUE(region.has_value());
  EXPECT_EQ(region->huge_bytes(), 0U);
  EXPECT_EQ(region->size(), page_size::small);
}

}  // namespace
}  // namespace isotherm::lab
