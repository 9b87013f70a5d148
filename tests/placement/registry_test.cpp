// All placements that `isotherm serve` offers.
#include "placement/registry.hpp"

#include <gtest/gtest.h>

#include <set>

namespace isotherm::placement {
namespace {

TEST(PlacementRegistry, NamesDiffer) {
  const std::vector<std::string_view> names = placement_names();
  EXPECT_EQ(std::set(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(names.size(), placement_kinds().size());
}

TEST(PlacementRegistry, EachPlacementTakesItsFastMemoryAndReports) {
  for (const std::string_view name : placement_names()) {
    SCOPED_TRACE(name);
    const auto made = make_placement(name, {.share = 0.25});
    EXPECT_EQ(made->size().share, 0.25);
    made->resize({.bytes = 4096});
    EXPECT_EQ(made->size().bytes, 4096u);
    EXPECT_FALSE(made->size().share);
    std::set<std::string_view> reported;
    for (const statistic& each : made->report()) {
      EXPECT_TRUE(reported.insert(each.name).second) << each.name;
    }
    EXPECT_FALSE(reported.empty());
    made->stop();  // idempotent: it was not started
  }
}

}  // namespace
}  // namespace isotherm::placement
