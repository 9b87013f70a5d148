#include "lab/tlb/miss_counters.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>

#include <cerrno>

#include "lab/tlb/region.hpp"

namespace isotherm::lab {
namespace {

/// The kernel's own event, which systems without counters of the processor have too.
TEST(EventCounter, CountsBetweenStartAndStop) {
  event_counter faults(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
  if (!faults.counts()) {  // a container may forbid the call
    EXPECT_TRUE(faults.problem() == EACCES || faults.problem() == EPERM ||
                faults.problem() == ENOSYS)
        << faults.problem();
    EXPECT_FALSE(faults.stop().has_value());
    return;
  }
  constexpr std::uint64_t kBytes = 4 << 20;                                // 1024 pages
  EXPECT_TRUE(memory_region::make(kBytes, page_size::small).has_value());  // not counted
  faults.start();
  EXPECT_TRUE(memory_region::make(kBytes, page_size::small).has_value());
  const auto counted = faults.stop();
  ASSERT_TRUE(counted.has_value());
  EXPECT_GE(*counted, 1024);
  EXPECT_LT(*counted, 1500);
}

TEST(EventCounter, OneThatCannotBeHadCountsNothing) {
  event_counter none(PERF_TYPE_HW_CACHE, 0xffffff);
  EXPECT_FALSE(none.counts());
  EXPECT_NE(none.problem(), 0);
  none.start();
  EXPECT_FALSE(none.stop().has_value());
}

TEST(MissCounters, CountOrSayWhyNot) {
  miss_counters counters;
  counters.start();
  const read_misses misses = counters.stop();
  if (misses.tlb) EXPECT_EQ(counters.why_absent(), "");
  if (counters.why_absent().empty()) return;
  EXPECT_FALSE(misses.tlb.has_value());
  EXPECT_EQ(counters.why_absent().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace isotherm::lab
