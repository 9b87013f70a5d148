#include "lab/tlb/hot_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace isotherm::lab {
namespace {

constexpr object_region kRegion{.objects = 10'000, .lines_per_object = 4};
constexpr std::uint64_t kSeed = 42;

std::set<std::uint64_t> objects_of(const std::vector<std::uint32_t>& lines) {
  std::set<std::uint64_t> objects;
  for (const auto line : lines) objects.insert(line / kRegion.lines_per_object);
  return objects;
}

TEST(HotSet, HasEachHotObjectOnce) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  for (const layout which : kLayouts) {
    for (const std::uint64_t hot : {1U, 2U, 777U, 10'000U}) {
      const auto lines = choose_hot_lines(kRegion, hot, which, kSeed);
      EXPECT_EQ(lines.size(), hot);
      EXPECT_EQ(objects_of(lines).size(), hot) << name_of(which);
      EXPECT_LT(std::ranges::max(lines), kRegion.objects * kRegion.lines_per_object);
    }
  }
}

TEST(HotSet, LiesSideBySideOrAllOverTheRegion) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const auto clustered = choose_hot_lines(kRegion, 500, layout::clustered, kSeed);
  EXPECT_EQ(*objects_of(clustered).rbegin(), 499U);
  // 500 of 10,000: each tenth of the region has 50, give or take.
  std::vector<int> tenths(10);
  for (const auto object : objects_of(choose_hot_lines(kRegion, 500, layout::scattered, kSeed))) {
    ++tenths[object / 1000];
  }
  for (const int in_tenth : tenths) EXPECT_NEAR(in_tenth, 50, 25);
}

TEST(HotSet, IsUsedInRandomOrderAndInAllLinesOfItsObjects) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const auto lines = choose_hot_lines(kRegion, 4000, layout::clustered, kSeed);
  std::vector<int> in_object(4);
  std::size_t ascents = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ++in_object[lines[i] % 4];
    if (i > 0 && lines[i] > lines[i - 1]) ++ascents;
  }
  for (const int count : in_object) EXPECT_NEAR(count, 1000, 150);
  EXPECT_NEAR(static_cast<double>(ascents), 2000, 150);
  EXPECT_EQ(lines, choose_hot_lines(kRegion, 4000, layout::clustered, kSeed));
  EXPECT_NE(lines, choose_hot_lines(kRegion, 4000, layout::clustered, kSeed + 1));
}

TEST(HotSet, PagesAreCountedOnce) {
  const std::vector<std::uint32_t> lines{0, 63, 64, 128, 127, 1};  // 64 lines a page of 4 KiB
  EXPECT_EQ(count_pages(lines, 4096), 3U);
  EXPECT_EQ(count_pages(lines, 2 << 20), 1U);
}

}  // namespace
}  // namespace isotherm::lab
