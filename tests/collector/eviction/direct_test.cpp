// The collector over a direct COLD: it is a tiering system of its own. The node 0, which every
// machine has, stands for a slow node. Not under the sanitizers, whose own memory counts as the
// process's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collector/collector.hpp"
#include "collector/memory/memory_room.hpp"
#include "guide/guide.hpp"
#include "heap/configure.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

constexpr std::size_t kBytes = 1016;  // 1 KiB with the header: 1,023 take an extent
constexpr std::size_t kInExtent = 1023;
constexpr std::uint64_t kExtent = std::uint64_t{1} << 20;

std::uint64_t cold_objects() {
  return heap::usage_of(heap::kind::cold, heap::residency::left_out).objects;
}

std::vector<guide<bytes>> make_numbered(std::size_t count) {
  std::vector<guide<bytes>> held(count);
  std::string text(kBytes, 'x');
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(text.data(), &i, sizeof i);
    held[i] = guide<bytes>(make_bytes(text));
  }
  return held;
}

bool are_whole(const std::vector<guide<bytes>>& held) {
  for (std::size_t i = 0; i < held.size(); ++i) {
    const scope inside;
    std::size_t number = 0;
    std::memcpy(&number, held[i].get(inside)->data(), sizeof number);
    if (number != i) return false;
  }
  return true;
}

/// Once a process.
void configure_direct() {
  static const bool is_done = [] {
    heap::options heaps;
    heaps.cold = *heap::cold_backing::parse("node:0");
    heaps.hot_node = 0;
    return heap::configure(heaps).has_value();
  }();
  ASSERT_TRUE(is_done);
}

class Direct : public testing::Test {
 protected:
  static void SetUpTestSuite() { configure_direct(); }
};

TEST_F(Direct, ALoadBeyondTheTargetLeavesForTheNode) {
  options chosen;
  chosen.window_seconds = 3600;
  chosen.memory_target_bytes = read_memory_room(0).dram_bytes + 64 * kExtent;
  object_collector collector(chosen);
  ASSERT_TRUE(check_on_this_machine(chosen));
  ASSERT_TRUE(collector.start());
  const auto held = make_numbered(256 * kInExtent);
  EXPECT_LE(read_memory_room(0).dram_bytes, chosen.memory_target_bytes + 4 * kExtent);
  EXPECT_FALSE(collector.refuses_growth());
  EXPECT_GT(cold_objects(), held.size() / 2);
  collector.stop();
  EXPECT_TRUE(are_whole(held)) << "objects are used where they lie";
  EXPECT_EQ(collector.last_window().hinted_bytes, 0U);
}

TEST_F(Direct, ObjectsThatAreUsedComeBack) {
  const auto held = make_numbered(4 * kInExtent);
  object_collector collector(
      {.window_seconds = 10, .policy = policy_name::published, .cold_threshold = 1});
  EXPECT_EQ(collector.run_window().demoted.objects, held.size());
  for (std::size_t i = 0; i < 100; ++i) {
    const scope inside;
    EXPECT_NE(held[i].get(inside), nullptr);
  }
  const window_statistics seen = collector.run_window();
  EXPECT_EQ(seen.accessed_cold_objects, 100U);
  EXPECT_EQ(seen.promoted.objects, 100U);
  EXPECT_TRUE(are_whole(held));
}

class DirectDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { configure_direct(); }
  /// Without interference, half of the device's bandwidth: 1 MB/s, so that a window writes 10 MB.
  static options over_device() {
    options chosen{.window_seconds = 10, .policy = policy_name::published, .cold_threshold = 1};
    chosen.adaptive_threshold = false;
    chosen.cold_device = device_costs{2e6, 1e9, 0};
    return chosen;
  }
};

TEST_F(DirectDevice, WritesStayWithinTheBudget) {
  const auto held = make_numbered(32 * kInExtent);
  object_collector collector(over_device());
  const window_statistics seen = collector.run_window();
  EXPECT_GE(seen.demoted.bytes, 10'000'000U);
  EXPECT_LE(seen.demoted.bytes, 10'000'000U + kExtent);
  EXPECT_EQ(seen.held_back, held.size() - seen.demoted.objects) << "they stay, and are counted";
  EXPECT_TRUE(are_whole(held));
}

TEST_F(DirectDevice, ObjectsThatWouldReturnTooSoonStay) {
  const auto in_cold = make_numbered(32 * kInExtent);
  options chosen = over_device();
  chosen.cold_device = device_costs{2e9, 1e12, 0};  // 1 GB/s: all may leave
  object_collector collector(chosen);
  ASSERT_EQ(collector.run_window().demoted.objects, in_cold.size());
  // COLD has 33.5 MB, which the device writes anew in 48 s: five windows.
  chosen.cold_device = device_costs{2 * 700e3, 1e12, 0};
  ASSERT_TRUE(collector.reconfigure(chosen));
  const auto held = make_numbered(100);
  for (int unused = 1; unused < 4; ++unused) {
    const window_statistics seen = collector.run_window();
    EXPECT_EQ(seen.demoted.objects, 0U) << unused << " windows without use";
    EXPECT_EQ(seen.held_back, held.size());
  }
  // Used in one of five windows they are expected to stay for five.
  collector.run_window();
  EXPECT_EQ(cold_objects(), in_cold.size() + held.size());
}

}  // namespace
}  // namespace isotherm::collector
