// Objects used alike share pages: a hot object on a page of cold ones makes all of it hot.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "base/page.hpp"
#include "collector/hot/moves.hpp"
#include "collector/scan/ageing.hpp"
#include "guide/guide.hpp"

namespace isotherm::collector {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kObjects = 20'000;  // of 1000 bytes
constexpr std::size_t kEach = 10;         // every tenth is used in each window, the others in none
constexpr unsigned kWindows = 8;

class HotOrder : public HotMoves {
 protected:
  explicit HotOrder(policy_name name = policy_name::budget, std::size_t objects = kObjects,
                    std::size_t bytes_each = 1000)
      : HotMoves(name), by_place_(objects), is_used_(objects), held_(objects) {
    std::iota(by_place_.begin(), by_place_.end(), std::size_t{0});
    std::ranges::shuffle(by_place_, std::mt19937_64(1));
    for (std::size_t place = 0; place < objects; ++place) {
      const std::size_t i = by_place_[place];
      held_[i] = guide<bytes>(make_bytes_in(heap::kind::hot, bytes_each));
      is_used_[i] = place % kEach == 0;
    }
    for (unsigned window = 0; window < kWindows; ++window) age();
  }
  void age() {
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const scope inside;
      if (is_used_[i]) held_[i].get(inside);
    }
    decides_->begin_ageing(chosen_);
    order_.begin();
    touched_pages pages;
    window_statistics seen;
    ageing visitor(*decides_, counts_left::kept, pages, order_, seen);
    guides::visit_due(visitor);
    decides_->weigh(chosen_, {}, seen);
  }
  /// Returns the bytes that were moved.
  std::uint64_t sort(double seconds) { return empty(order_.worst(seconds), find_in_order); }
  template <class Wanted>
  std::set<std::uintptr_t> pages_of(Wanted is_wanted) const {
    std::set<std::uintptr_t> pages;
    for (std::size_t i = 0; i < kObjects; ++i) {
      const auto address = guides::address_of(held_[i].slot().load_relaxed());
      if (is_wanted(i)) pages.insert(address / base::kPageBytes);
    }
    return pages;
  }

  // Guides lie in another order than their objects, as in a store's table.
  std::vector<std::size_t> by_place_;  // numbers of guides, in the order of their objects
  std::vector<bool> is_used_;
  options chosen_;
  hot_order order_;
  std::vector<guide<bytes>> held_;
};

/// Small ones, so many that one list does not have them all.
class HotOrderOfMany : public HotOrder {
 protected:
  HotOrderOfMany() : HotOrder(policy_name::budget, 300'000, 100) {}
};

class HotOrderByPublishedPolicy : public HotOrder {
 protected:
  HotOrderByPublishedPolicy() : HotOrder(policy_name::published) {}
};

TEST_F(HotOrder, WhatIsUsedAlikeSharesPages) {
  const auto is_used = [this](std::size_t i) { return is_used_[i]; };
  EXPECT_GT(pages_of(is_used).size(), kObjects / kEach * 9 / 10);
  sort(1000);
  const auto hot = pages_of(is_used), cold = pages_of(std::not_fn(is_used));
  const std::size_t least = kObjects / kEach * 1000 / base::kPageBytes;
  EXPECT_LE(hot.size(), least * 12 / 10);
  std::vector<std::uintptr_t> both;
  std::ranges::set_intersection(hot, cold, std::back_inserter(both));
  EXPECT_LE(both.size(), kObjects / 100u);  // of the extents that were open
  for (std::size_t i = 0; i < kObjects; ++i) {
    ASSERT_EQ(held_[i].get(scope{})->size(), 1000u);
  }
}

TEST_F(HotOrder, WhatLiesWhereItBelongsIsNotMovedAgain) {
  EXPECT_GT(sort(1000), kObjects * 900);
  age();
  EXPECT_LT(sort(1000), 2 * kMiB);
}

TEST_F(HotOrder, CopiesAreBoundedByTheLengthOfAWindow) {
  const std::uint64_t moved = sort(1);
  EXPECT_GT(moved, 2 * kMiB);
  EXPECT_LE(moved, 5 * kMiB);
}

TEST_F(HotOrder, TakesNoMoreThanAFewExtentsMeanwhile) {
  const std::uint64_t before = extent_bytes();
  sort(1000);
  EXPECT_LE(most_, before + 8 * kMiB);
  EXPECT_LE(extent_bytes(), before + 4 * kMiB);
}

TEST_F(HotOrderOfMany, TakesNoMoreThanAFewExtentsMeanwhile) {
  const std::uint64_t before = extent_bytes();
  EXPECT_GT(sort(1000), 20 * kMiB);
  EXPECT_LE(most_, before + 8 * kMiB);
}

// An extent of small objects costs more than such a window has time for.
TEST_F(HotOrderOfMany, IsSortedInShortWindowsToo) {
  constexpr double kSeconds = 0.1;
  std::uint64_t moved = 0;
  unsigned windows = 0;
  for (; moved < kMiB / 2 && windows < 50; ++windows) moved += sort(kSeconds);
  EXPECT_GE(moved, kMiB / 2);
  EXPECT_GE(windows, 5u);  // no sooner than there was time
}

// An extent that has been emptied since the window's end costs none of the time that another needs.
TEST_F(HotOrderOfMany, WhatWasEmptiedMeanwhileTakesNoTime) {
  for (std::size_t place = 0; place < by_place_.size() * 9 / 10; ++place) {
    held_[by_place_[place]].reset();
  }
  heap::trim();
  constexpr double kForOneExtent = 1.5;
  EXPECT_GT(sort(kForOneExtent), kMiB / 2);
}

// It has no rates: what was not used in a window or two may be as hot as the rest.
TEST_F(HotOrderByPublishedPolicy, NothingIsMoved) { EXPECT_EQ(sort(1000), 0u); }

}  // namespace
}  // namespace isotherm::collector
