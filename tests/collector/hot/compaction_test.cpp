// Emptying the sparse extents of HOT must not itself take the memory that it is to give back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "collector/compaction.hpp"
#include "collector/migration.hpp"
#include "collector/protocol_veto.hpp"
#include "guide/guide.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kObjects = 40'000;  // of 1000 bytes
constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Half of HOT is dead, everywhere alike, and guides lie in another order than their objects, as in
/// a store's table.
class HotCompaction : public testing::Test {
 protected:
  void SetUp() override {
    heap::trim();
    std::vector<std::size_t> order(kObjects);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, std::mt19937_64(1));
    held_.resize(kObjects);
    for (const std::size_t i : order) held_[i] = guide<bytes>(make_bytes_in(heap::kind::hot, 1000));
    for (std::size_t n = 0; n < kObjects; n += 2) held_[order[n]].reset();
    heap::trim();
    before_ = most_ = extent_bytes();
  }
  static std::uint64_t extent_bytes() {
    return heap::usage_of(heap::kind::hot, heap::residency::left_out).extent_bytes;
  }
  /// Notes how much HOT takes at most meanwhile.
  void compact(const hot_compaction& asked) {
    const auto protocol = make_veto_protocol();
    window_statistics seen;
    const auto stop = [] { return false; };
    migration moves(
        *protocol, {64 << 10, 10'000'000}, stop,
        [this](std::uint64_t) {
          heap::trim();
          most_ = std::max(most_, extent_bytes());
        },
        seen);
    std::vector<candidate> candidates;
    const auto decides = make_policy(policy_name::budget);
    EXPECT_TRUE(compaction(moves, *decides, candidates, stop).compact_hot(asked));
    heap::trim();
  }
  std::vector<std::uintptr_t> addresses() const {
    std::vector<std::uintptr_t> found;
    for (const auto& each : held_) found.push_back(guides::address_of(each.slot().load_relaxed()));
    return found;
  }

  std::vector<guide<bytes>> held_;
  std::uint64_t before_ = 0, most_ = 0;
};

TEST_F(HotCompaction, TakesNoMoreThanAFewExtentsMeanwhile) {
  compact({.short_bytes = kAll, .together_bytes = 2 * kMiB, .end = kAll});
  EXPECT_LT(extent_bytes(), before_ * 6 / 10);
  // The copies of one group, and the extents that are open.
  EXPECT_LE(most_, before_ + 6 * kMiB);
}

TEST_F(HotCompaction, LeavesWhatLiesBehindTheEnd) {
  const std::vector<std::uintptr_t> before = addresses();
  std::vector<std::uintptr_t> live;
  std::ranges::copy_if(before, std::back_inserter(live), [](auto at) { return at != 0; });
  const auto middle = live.begin() + static_cast<std::ptrdiff_t>(live.size() / 2);
  std::ranges::nth_element(live, middle);
  const std::uintptr_t end = *middle / kMiB * kMiB;
  compact({.short_bytes = kAll, .together_bytes = 2 * kMiB, .end = end});
  const std::vector<std::uintptr_t> after = addresses();
  std::size_t moved = 0;
  for (std::size_t i = 0; i < kObjects; ++i) {
    moved += before[i] != after[i];
    if (before[i] >= end) ASSERT_EQ(before[i], after[i]);
  }
  EXPECT_GT(moved, kObjects / 5);
}

}  // namespace
}  // namespace isotherm::collector
