// The scan's one attempt at a word: what the collector read may be old by the time it writes.
#include "collector/scan.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "guide/guide.hpp"

namespace isotherm::collector {
namespace {

class Scan : public testing::Test {
 protected:
  guides::word word() const { return g_.slot().load_relaxed(); }
  guides::verdict age(guides::word seen) {
    window_scan visitor(options_, found_, statistics_);
    return visitor.age(g_.slot(), seen);
  }
  std::size_t candidates() const { return found_.candidates.size(); }
  guide<bytes> g_{make_bytes("value")};
  scan_options options_{.cold_threshold = 1, .collect_candidates = true, .reset_counts = false};
  scan_result found_;
  window_statistics statistics_;
};

TEST_F(Scan, AgesAndListsAWordThatIsStillWhatWasRead) {
  g_.slot().store_relaxed(guides::rested(word()));
  const guides::word seen = word();
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), guides::aged(seen));
  ASSERT_EQ(candidates(), 1u);
  EXPECT_EQ(found_.candidates[0].target, heap::kind::cold);
  EXPECT_EQ(found_.candidates[0].bytes, bytes::footprint(5));
}

TEST_F(Scan, SkipsAWordThatWasUsedAfterItWasRead) {
  g_.slot().store_relaxed(guides::rested(word()));
  const guides::word seen = word();
  {
    const scope inside;
    g_.get(inside);
  }
  const guides::word used = word();
  ASSERT_NE(used, seen);
  // A second attempt would clear the accessed bit, or send a warm object to COLD (pitfall 6).
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), used);
  EXPECT_EQ(candidates(), 0u);
}

TEST_F(Scan, SkipsAWordWhoseObjectWasReplacedAfterItWasRead) {
  const guides::word seen = word();
  const scope inside;
  EXPECT_TRUE(g_.replace(inside, make_bytes("other")));
  const guides::word replaced = word();
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), replaced);
  EXPECT_EQ(candidates(), 0u);
}

TEST_F(Scan, ForgetsWhatAScanBeforeItListed) {
  for (int i = 0; i < 2; ++i) {
    g_.slot().store_relaxed(guides::rested(word()));
    guides::progress all;
    scan(options_, all, found_, statistics_);
    EXPECT_TRUE(all.is_over);
    EXPECT_EQ(candidates(), 1u);
  }
}

// A first demotion finds everything: its list stays short, and each guide is seen once.
TEST_F(Scan, PausesWhenItsListIsFullAndGoesOnFromThere) {
  constexpr std::size_t kGuides = 10'000;
  std::vector<guide<bytes>> many;
  for (std::size_t i = 0; i < kGuides; ++i) many.emplace_back(make_bytes("one of many"));
  options_.list_bytes = 100 * sizeof(candidate);
  std::set<guides::slot_word*> listed;
  guides::progress so_far;
  for (int parts = 0; !so_far.is_over; ++parts) {
    ASSERT_LT(parts, 1000) << "it makes no progress";
    scan(options_, so_far, found_, statistics_);
    EXPECT_LE(candidates(), 100u);
    for (const candidate& one : found_.candidates) {
      EXPECT_TRUE(listed.insert(one.slot).second) << "a guide was seen, and aged, twice";
    }
  }
  EXPECT_EQ(listed.size(), kGuides + 1);
  EXPECT_EQ(statistics_.scanned_guides, kGuides + 1);
}

}  // namespace
}  // namespace isotherm::collector
