#include "base/page.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace isotherm::base {
namespace {

using part = std::pair<std::uintptr_t, std::size_t>;

std::vector<part> parts_of(std::uintptr_t address, std::size_t bytes) {
  std::vector<part> all;
  for_each_page(address, bytes, [&](auto page, auto held) { all.emplace_back(page, held); });
  return all;
}

TEST(ForEachPage, SplitsAnObjectAtPageEnds) {
  EXPECT_EQ(parts_of(4096, 1), (std::vector<part>{{1, 1}}));
  EXPECT_EQ(parts_of(4096, 4096), (std::vector<part>{{1, 4096}}));
  EXPECT_EQ(parts_of(4095, 4098), (std::vector<part>{{0, 1}, {1, 4096}, {2, 1}}));
}

TEST(ForEachPage, AnObjectOfNoBytesIsInOnePage) {
  EXPECT_EQ(parts_of(8192, 0), (std::vector<part>{{2, 0}}));
}

TEST(PageUtilization, IsTheShareOfThePagesBytes) {
  EXPECT_EQ(page_utilization(0, 0), 0);
  EXPECT_EQ(page_utilization(2048, 1), 0.5);
  EXPECT_EQ(page_utilization(8192, 2), 1);
}

}  // namespace
}  // namespace isotherm::base
