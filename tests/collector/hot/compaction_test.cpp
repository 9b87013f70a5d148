// Emptying the sparse extents of HOT must not itself take the memory that it is to give back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "collector/hot/moves.hpp"
#include "guide/guide.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kObjects = 40'000;  // of 1000 bytes
constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Half of HOT is dead, everywhere alike, and guides lie in another order than their objects, as in
/// a store's table.
class HotCompaction : public HotMoves {
 protected:
  HotCompaction() {
    std::vector<std::size_t> order(kObjects);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::shuffle(order, std::mt19937_64(1));
    held_.resize(kObjects);
    for (const std::size_t i : order) held_[i] = guide<bytes>(make_bytes_in(heap::kind::hot, 1000));
    for (std::size_t n = 0; n < kObjects; n += 2) held_[order[n]].reset();
    heap::trim();
    before_ = extent_bytes();
  }
  void compact(const hot_compaction& asked) { empty(sparse_hot(asked), find_hot_compactions); }
  std::vector<std::uintptr_t> addresses() const {
    std::vector<std::uintptr_t> found;
    for (const auto& each : held_) found.push_back(guides::address_of(each.slot().load_relaxed()));
    return found;
  }

  std::vector<guide<bytes>> held_;
  std::uint64_t before_ = 0;
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
