// Trees whose nodes the policy SINLK places.
#include <algorithm>
#include <string>
#include <vector>

#include "index/placed/placed_tree.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::index {
namespace {

using placement::tier;

/// A tree on SINLK, of keys of which some that stand side by side are used.
class SinlkTree : public placed_tree_test {
 protected:
  static constexpr std::uint64_t kKeys = 50'000, kHot = 2'500;
  /// Five parts of the keys share their first eight bytes each, and so a layer of a masstree.
  static std::string ordered_key(std::uint64_t i) {
    return "key:" + std::to_string(10'000'000 + i);
  }

  /// All nodes are slow; returns what they take.
  std::uint64_t load() {
    make_with(policy_);
    for (std::uint64_t i = 0; i < kKeys; ++i) index().upsert(ordered_key(i), "value");
    EXPECT_EQ(placement::used_bytes(tier::fast), fast_before_) << "fast memory of no bytes";
    return placement::used_bytes(tier::slow) - slow_before_;
  }
  void visit(placement::use_counts counts) {
    policy_.visit_once(*tree_.nodes, counts);
    EXPECT_TRUE(index().is_valid());
    least_fast_bytes_ = std::min(least_fast_bytes_, policy_.statistics().fast_bytes);
  }
  void read(std::uint64_t first, std::uint64_t keys) {
    for (std::uint64_t k = first; k < first + keys; ++k) {
      access inside;
      ASSERT_TRUE(index().find(inside, ordered_key(k)));
    }
  }
  /// Uses kHot keys, and visits the leaves, so many times.
  void use(std::uint64_t first, int visits) {
    for (int i = 0; i < visits; ++i) {
      for (int times = 0; times < 16; ++times) read(first, kHot);
      visit(i % 4 == 3 ? placement::use_counts::halved : placement::use_counts::kept);
    }
  }
  void expect_in_fast_memory(std::uint64_t first, double share = 0.9) {
    unsigned hot = 0, hot_in_fast = 0, uses_of_second = 0;
    const scope inside;
    std::string cursor = ordered_key(first);
    tree_.nodes->visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
      const unsigned uses = leaf.uses.value();
      if (hot == 1) uses_of_second = uses;  // the first may hold keys that are not used
      // A leaf may be visited twice, and its count be halved twice (placed_tree::visit_leaves()).
      const bool is_hot = hot == 0 || 4 * uses > uses_of_second;
      hot_in_fast += is_hot && placement::is_fast(leaf.path.back());
      hot += is_hot;
      return is_hot;
    });
    EXPECT_GT(hot, 10u);
    EXPECT_GE(hot_in_fast, share * hot);
  }

  placement::sinlk policy_{{}};
  std::uint64_t least_fast_bytes_ = 0;  // after a visit
};

// The policy itself: nodes of what is used end up in fast memory, which is never exceeded for long.
TEST_P(SinlkTree, PutsWhatIsUsedIntoFastMemory) {
  const std::uint64_t all = load();
  policy_.resize({.bytes = all / 4});
  use(kKeys / 2, 12);
  const placement::sinlk_statistics seen = policy_.statistics();
  EXPECT_GE(seen.leaves, kKeys / 64);
  EXPECT_GT(seen.moved.promoted_nodes, 0u);
  EXPECT_LE(seen.fast_bytes, all / 4);
  expect_in_fast_memory(kKeys / 2);
  policy_.resize({.bytes = 0});  // everything leaves
  for (int i = 0; i < 24; ++i) visit(placement::use_counts::kept);
  reclaim_all();
  EXPECT_EQ(placement::used_bytes(tier::fast), fast_before_);
  tree_.index.reset();
}

// Fast memory is made of pages, and holes in them count: jemalloc's count of them is found.
TEST_P(SinlkTree, FastMemoryIsCountedInPages) {
  const std::uint64_t all = load();
  policy_.resize({.bytes = all / 4});
  use(kKeys / 2, 4);
  const std::uint64_t pages = placement::used_page_bytes(tier::fast);
  EXPECT_GT(pages, placement::used_bytes(tier::fast));
  EXPECT_EQ(pages % 4096, 0u);
  tree_.index.reset();
}

// A hot region is found at once, and what is to leave for it later, by a visit in the keys' order.
TEST_P(SinlkTree, WhatIsUsedMoreTakesThePlaceOfWhatIsUsedLess) {
  const std::uint64_t all = load();
  policy_.resize({.bytes = all / 8});
  for (int i = 0; i < 3; ++i) {
    read(0, kKeys);
    visit(placement::use_counts::kept);
  }
  ASSERT_GT(policy_.statistics().fast_bytes, all / 8 * 8 / 10) << "it is full";
  least_fast_bytes_ = all;
  use(0, 2);  // of which the first learns what is hot
  expect_in_fast_memory(0, 0.5);
  use(0, 10);
  EXPECT_GT(least_fast_bytes_, all / 8 * 4 / 10) << "room is made for what waits, for no more";
  expect_in_fast_memory(0);
  EXPECT_LE(policy_.statistics().fast_bytes, all / 8);
  tree_.index.reset();
}

// The thread's work without the thread: turns of the trigger are due each half second.
TEST_P(SinlkTree, LooksTakeTheTurnsThatAreDueByAnyClock) {
  constexpr std::uint64_t kLookNs = 100'000'000, kAllLeaves = 2 * kKeys;
  const std::uint64_t all = load();
  policy_.resize({.bytes = all / 4});
  std::uint64_t now = 0;
  for (int i = 0; i < 60; ++i) {
    read(kKeys / 2, kHot);
    policy_.look(*tree_.nodes, now += kLookNs, kAllLeaves);
  }
  EXPECT_EQ(policy_.statistics().visits, 12u);
  expect_in_fast_memory(kKeys / 2);
  policy_.look(*tree_.nodes, now += 5 * kLookNs, 1);
  EXPECT_LE(policy_.statistics().visits, 13u) << "leaves that a turn may visit";
  EXPECT_TRUE(index().is_valid());
  tree_.index.reset();
}

// A visit that takes longer than the cooler's interval makes up for it.
TEST_P(SinlkTree, CountsAreHalvedAsOftenAsIntervalsHaveEnded) {
  constexpr std::uint64_t kSecondNs = 1'000'000'000, kAllLeaves = 2 * kKeys;
  load();
  for (int times = 0; times < 64; ++times) read(0, kKeys);
  const auto median_uses = [this] {
    std::vector<unsigned> uses;
    const scope inside;
    std::string cursor;
    tree_.nodes->visit_leaves(inside, cursor, [&uses](const placement::visited_leaf& leaf) {
      uses.push_back(leaf.uses.value());
      return true;
    });
    std::ranges::nth_element(uses, uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2));
    return uses[uses.size() / 2];
  };
  const unsigned before = median_uses();
  policy_.look(*tree_.nodes, kSecondNs, kAllLeaves);      // begins to cool
  policy_.look(*tree_.nodes, 7 * kSecondNs, kAllLeaves);  // finds three intervals over
  EXPECT_EQ(median_uses(), before);
  policy_.look(*tree_.nodes, 8 * kSecondNs, kAllLeaves);
  EXPECT_EQ(median_uses(), before / 8);
  policy_.look(*tree_.nodes, 8 * kSecondNs + kSecondNs / 2, kAllLeaves);
  EXPECT_EQ(median_uses(), before / 8) << "half an interval is left";
  tree_.index.reset();
}

INSTANTIATE_TEST_SUITE_P(All, SinlkTree, placed_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
