// The scan's one attempt at a word: what the collector read may be old by the time it writes.
#include "collector/scan.hpp"

#include <gtest/gtest.h>

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
  std::size_t candidates() const {
    return found_.promotions.size() + found_.demotions.size() + found_.compactions.size();
  }
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
  EXPECT_EQ(found_.demotions.size(), 1u);
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
  g_.replace(inside, make_bytes("other"));
  const guides::word replaced = word();
  EXPECT_EQ(age(seen), guides::verdict::keep_due);
  EXPECT_EQ(word(), replaced);
  EXPECT_EQ(candidates(), 0u);
}

TEST_F(Scan, ForgetsWhatAScanBeforeItListed) {
  for (int i = 0; i < 2; ++i) {
    g_.slot().store_relaxed(guides::rested(word()));
    scan(options_, found_, statistics_);
    EXPECT_EQ(found_.demotions.size(), 1u);
  }
}

}  // namespace
}  // namespace isotherm::collector
