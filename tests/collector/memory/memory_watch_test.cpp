// Memory is looked after while the collector waits, as for a disk that does not answer.
#include "collector/memory/memory_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <semaphore>
#include <thread>

#include "collector/collector.hpp"
#include "collector/memory/return_gate.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kLess = std::uint64_t{1} << 20;  // than any process has
constexpr std::uint64_t kMore = std::uint64_t{1} << 40;

/// False when it takes minutes.
bool comes_true(const std::function<bool()>& condition) {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > patience) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(MemoryWatch, RefusesGrowthWhileTheCollectorWaits) {
  std::binary_semaphore waits(0), may_go_on(0);
  bool is_first = true;
  options chosen;
  chosen.window_seconds = 0.01;
  chosen.memory_target_bytes = kMore;
  chosen.hint = heap::hint::pageout;
  object_collector collector(chosen);
  collector.on_window([&](const window_statistics&) {
    if (!is_first) return;
    is_first = false;
    waits.release();
    may_go_on.acquire();
  });
  const auto started = collector.start();
  ASSERT_TRUE(started) << started.error().message;
  waits.acquire();
  EXPECT_FALSE(collector.refuses_growth());
  chosen.memory_target_bytes = kLess;
  EXPECT_TRUE(collector.reconfigure(chosen));
  EXPECT_TRUE(comes_true([&] { return collector.refuses_growth(); }));
  chosen.memory_target_bytes = kMore;
  EXPECT_TRUE(collector.reconfigure(chosen));
  EXPECT_TRUE(comes_true([&] { return !collector.refuses_growth(); }));
  may_go_on.release();
}

TEST(MemoryWatch, ObservesWithoutChangingALimit) {
  const auto admits = [] { return gate().admit(0, 600, heap::used_before::yes).has_value(); };
  gate().allow(1000);
  options chosen;
  chosen.memory_target_bytes = kLess;
  memory_watch watch;
  const auto seen = memory_watch::observe(chosen);
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->is_short());
  EXPECT_TRUE(admits());
  watch.apply(*seen);
  EXPECT_FALSE(admits());
}

TEST(MemoryWatch, RefusesNothingOnceItIsStopped) {
  options chosen;
  chosen.memory_target_bytes = kLess;
  memory_watch watch;
  ASSERT_TRUE(watch.start([&chosen] { return chosen; }));
  EXPECT_TRUE(comes_true([&] { return watch.refuses_growth(); }));
  watch.stop();
  EXPECT_FALSE(watch.refuses_growth());
  const auto seen = memory_watch::observe(chosen);
  ASSERT_TRUE(seen);
  watch.apply(*seen);
  EXPECT_FALSE(watch.refuses_growth());
}

}  // namespace
}  // namespace isotherm::collector
