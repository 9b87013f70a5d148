#include "lab/tlb/model.hpp"

#include <gtest/gtest.h>

namespace isotherm::lab {
namespace {

TEST(TranslationModel, AddsHitsOneSlowWalkAndAWalkForEachPage) {
  EXPECT_DOUBLE_EQ(translation_cycles(0, 0), 600);
  EXPECT_DOUBLE_EQ(translation_cycles(10, 0), 640);
  EXPECT_DOUBLE_EQ(translation_cycles(10, 3), 640 + 450);
  const translation_costs costs{.hit_cycles = 1, .walk_cycles = 10, .first_walk_cycles = 100};
  EXPECT_DOUBLE_EQ(translation_cycles(10, 3, costs), 140);
}

/// Dissertation 4.3.2: 10.73 million hot objects on 671 thousand or on 21.46 million pages, 143
/// million or 3.2 billion cycles, .051 seconds, 23 times as many.
TEST(TranslationModel, GivesThePapersFigures) {
  const hot_scenario paper;
  EXPECT_EQ(paper.hot_objects(), 10'737'418U);
  EXPECT_EQ(paper.clustered_pages(), 671'089U);
  EXPECT_EQ(paper.scattered_pages(), 21'474'836U);
  const double clustered = translation_cycles(paper.hot_objects(), paper.clustered_pages());
  const double scattered = translation_cycles(paper.hot_objects(), paper.scattered_pages());
  EXPECT_NEAR(clustered, 143e6, 1e6);
  EXPECT_NEAR(scattered, 3.2e9, 0.1e9);
  EXPECT_NEAR(scattered / clustered, 23, 0.5);
}

TEST(HotScenario, RoundsPagesUp) {
  const hot_scenario small{
      .region_bytes = 1 << 20, .object_bytes = 64, .page_bytes = 4096, .hot_share = 65.0 / 16384};
  EXPECT_EQ(small.hot_objects(), 65U);
  EXPECT_EQ(small.clustered_pages(), 2U);
}

}  // namespace
}  // namespace isotherm::lab
