#include "lab/tlb/tlb.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/tlb/report.hpp"

namespace isotherm::lab {
namespace {

tlb_options small() {
  tlb_options asked;
  asked.region_bytes = 4 << 20;
  asked.hot = {"1", "50"};
  asked.pages = {"4k"};
  asked.accesses = 1000;
  asked.rounds = 3;
  asked.seed = 1;
  return asked;
}

TEST(Spread, IsOfAllSamples) {
  const spread odd = spread_of({3, 1, 2});
  EXPECT_EQ(odd.median, 2);
  EXPECT_EQ(odd.least, 1);
  EXPECT_EQ(odd.most, 3);
  EXPECT_EQ(spread_of({4, 1, 2, 3}).median, 2.5);
}

TEST(TlbPlan, IsOfWholeHugePagesAndWholeObjects) {
  tlb_options asked = small();
  asked.region_bytes += 12'345;
  const auto plan = understand(asked);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->asked.region_bytes, 4U << 20);
  EXPECT_EQ(plan->region.objects, 16'384U);
  EXPECT_EQ(plan->region.lines_per_object, 4U);
  EXPECT_EQ(plan->hot_shares, (std::vector{0.01, 0.5}));
}

TEST(TlbPlan, NamesTheFlagThatIsWrong) {
  const auto refusal = [](auto change) {
    tlb_options asked = small();
    change(asked);
    const auto plan = understand(asked);
    return plan ? std::string() : plan.error().message;
  };
  EXPECT_TRUE(refusal([](auto& o) { o.region_bytes = 4096; }).starts_with("--size"));
  EXPECT_TRUE(refusal([](auto& o) { o.region_bytes = 1ULL << 50; }).starts_with("--size"));
  EXPECT_TRUE(refusal([](auto& o) { o.object_bytes = 100; }).starts_with("--object"));
  EXPECT_TRUE(refusal([](auto& o) { o.object_bytes = 0; }).starts_with("--object"));
  EXPECT_TRUE(refusal([](auto& o) { o.hot = {"0.001"}; }).starts_with("--hot"));
  EXPECT_TRUE(refusal([](auto& o) { o.hot = {"101"}; }).starts_with("--hot"));
  EXPECT_TRUE(refusal([](auto& o) { o.pages = {"4k", "4k"}; }).starts_with("--pages"));
  EXPECT_TRUE(refusal([](auto& o) { o.access = {"both"}; }).starts_with("--access"));
  // More than the machines of today have.
  EXPECT_NE(refusal([](auto& o) {
              o.region_bytes = 128ULL << 30, o.pages = {"4k", "2m"};
            }).find("give a smaller --size"),
            std::string::npos);
}

TEST(TlbRun, MeasuresEachLayoutAndKindOfAccess) {
  const auto plan = understand(small());
  ASSERT_TRUE(plan.has_value());
  std::uint64_t done = 0, total = 0;
  const auto found = run_tlb(*plan, [&](std::uint64_t now, std::uint64_t all) {
    EXPECT_EQ(now, ++done);
    total = all;
  });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(done, total);
  EXPECT_EQ(total, 2U * 2 * 3 * 2);
  ASSERT_EQ(found->rows.size(), 2U * 2 * 2);
  EXPECT_FALSE(found->huge_bytes.has_value());
  for (const tlb_row& row : found->rows) {
    EXPECT_GT(row.ns.median, 0);
    EXPECT_LE(row.ns.least, row.ns.median);
    EXPECT_GE(row.ns.most, row.ns.median);
    ASSERT_TRUE(row.speedup.has_value());
    if (row.placed == layout::scattered) EXPECT_EQ(row.speedup->median, 1);
  }
  // 163 objects of 256 bytes: 11 pages side by side, or a page each of most of them.
  EXPECT_EQ(found->rows[0].hot_objects, 163U);
  EXPECT_GT(found->rows[0].pages_touched, 120U);
  EXPECT_EQ(found->rows[1].pages_touched, 11U);
}

TEST(TlbReport, HasTheModelOfThePaperAndOfTheRun) {
  const auto plan = understand(small());
  ASSERT_TRUE(plan.has_value());
  const auto found = run_tlb(*plan, {});
  ASSERT_TRUE(found.has_value());
  const auto object = to_json(*plan, *found);
  const auto& model = object["model"];
  EXPECT_EQ(model["source"], "computed");
  EXPECT_EQ(std::round(model["paper"]["ratio"].get<double>()), 23);
  ASSERT_EQ(model["runs"].size(), 2U);
  EXPECT_EQ(model["runs"][0]["clustered_cycles"], 163.0 * 4 + 600 + 11 * 150);
  EXPECT_EQ(object["rows"].size(), found->rows.size());
  const std::string text = to_text(*plan, *found);
  EXPECT_NE(text.find("computed, not measured"), std::string::npos);
  EXPECT_NE(text.find("143.614"), std::string::npos);
}

}  // namespace
}  // namespace isotherm::lab
