#include "os/clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace isotherm::os {
namespace {

TEST(Clock, MonotonicTimeDoesNotGoBack) {
  std::uint64_t last = monotonic_ns();
  EXPECT_GT(last, 0U);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t now = monotonic_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, WorkUsesCpuTimeOfThreadAndProcess) {
  const std::uint64_t process_before = process_cpu_ns();  // first, so that its interval is longer
  const std::uint64_t thread_before = thread_cpu_ns();
  volatile std::uint64_t sink = 0;
  while (thread_cpu_ns() - thread_before < 2'000'000) {
    for (int i = 0; i < 1'000; ++i) sink = sink + 1;
  }
  EXPECT_GE(process_cpu_ns() - process_before, 2'000'000U);
}

TEST(Clock, NoDeadlineIsBeyondTheEndOfTime) {
  constexpr std::uint64_t kEnd = ~std::uint64_t{0};
  EXPECT_EQ(deadline_ns(kEnd), kEnd);
  EXPECT_EQ(deadline_ns(kEnd / 1000), kEnd);
  const std::uint64_t soon = deadline_ns(5'000'000);
  EXPECT_GE(soon, 5'000'000'000U);
  EXPECT_LT(soon, kEnd);
}

}  // namespace
}  // namespace isotherm::os
