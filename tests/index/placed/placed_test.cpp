// Trees whose nodes are moved between fast and slow memory while they are used: contents, the
// single-boundary rule, what the tiers hold, and, with guides, a collector that moves the objects
// at the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "collector/collector.hpp"
#include "guide/soda.hpp"
#include "index/any_index.hpp"
#include "index/placed/node_mover.hpp"
#include "placement/node_memory.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::index {
namespace {

using placement::tier;

/// Keys of 1 to some 20 bytes, many of which share prefixes.
std::string key_of(std::uint64_t i) {
  const std::uint64_t mixed = base::mix64(i);
  return std::string(mixed % 4, 'p') + std::to_string(mixed % 1'000'000) +
         std::string(mixed % 7, static_cast<char>(mixed % 3));
}

void reclaim_all() {
  for (int i = 0; i < 8 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
}

class PlacedTree : public testing::TestWithParam<index_kind> {
 protected:
  PlacedTree() : seed_(test_seed()), placer_(seed_) {
    EXPECT_TRUE(placement::open_node_memory());
    reclaim_all();
    fast_before_ = placement::used_bytes(tier::fast);
    slow_before_ = placement::used_bytes(tier::slow);
    make_with(placer_);
  }
  void make_with(placement::placer& chooser) {
    tree_.index.reset();
    auto made = make_placed(std::get<0>(GetParam()), std::get<1>(GetParam()), chooser);
    EXPECT_TRUE(made);
    tree_ = std::move(*made);
  }
  /// What the tree took of the tiers comes back when it is gone.
  void expect_nothing_left() {
    tree_.index.reset();
    reclaim_all();
    EXPECT_EQ(placement::used_bytes(tier::fast), fast_before_);
    EXPECT_EQ(placement::used_bytes(tier::slow), slow_before_);
  }
  any_index& index() { return *tree_.index; }

  const std::uint64_t seed_;
  random_placer placer_;
  placed_index tree_;
  std::uint64_t fast_before_ = 0, slow_before_ = 0;
};

TEST_P(PlacedTree, MatchesAMapWhileNodesMove) {
  base::random random(seed_);
  node_mover moves(*tree_.nodes, seed_ + 1);
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = key_of(random.below(3'000));
    const std::string value = std::to_string(random.below(1'000'000));
    switch (random.below(6)) {
      case 0:
        EXPECT_EQ(index().erase(key), expected.erase(key) == 1);
        break;
      case 1:
        EXPECT_EQ(index().insert(key, value) == outcome::done,
                  expected.try_emplace(key, value).second);
        break;
      case 2:
        EXPECT_EQ(index().update(key,
                                 [&](auto now) {
                                   return now ? decision{action::write, value} : decision{};
                                 }) == outcome::done,
                  expected.contains(key));
        if (auto at = expected.find(key); at != expected.end()) at->second = value;
        break;
      case 3: {
        const scope inside;
        const auto found = index().find(inside, key);
        const auto at = expected.find(key);
        ASSERT_EQ(found.has_value(), at != expected.end());
        if (found) EXPECT_EQ(*found, at->second);
        break;
      }
      default:
        EXPECT_EQ(index().upsert(key, value), outcome::done);
        expected[key] = value;
    }
    if (i % 16 == 0) moves.step();
    if (i % 2'000 == 0) ASSERT_TRUE(index().is_valid());
  }
  EXPECT_TRUE(index().is_valid());
  EXPECT_GT(moves.counts().promoted_nodes, 1'000u);
  EXPECT_GT(moves.counts().demoted_nodes, 1'000u);
  std::map<std::string, std::string> held;
  {
    const scope inside;
    index().scan(inside, "", [&](std::string_view key, std::string_view value) {
      return held.emplace(key, value).second;
    });
  }
  EXPECT_EQ(held, expected);
  expect_nothing_left();
}

// What a scope has found stays good while the leaf's guides go to another node and back, and a
// collector moves objects.
TEST_P(PlacedTree, WhatAScopeFoundStaysWhileItsLeafMoves) {
  const std::size_t guides_before = guides::registered_slots();
  for (int i = 0; i < 200; ++i) index().upsert(key_of(i), std::string(100, 'v'));
  collector::object_collector moving{collector::options{}};
  node_mover moves(*tree_.nodes, seed_);
  for (int round = 0; round < 20; ++round) {
    {
      const scope inside;
      const auto found = index().find(inside, key_of(round));
      for (int i = 0; i < 10; ++i) moves.step();
      ASSERT_TRUE(found);
      EXPECT_EQ(*found, std::string(100, 'v'));
    }
    if (index().is_managed()) moving.run_window();
  }
  EXPECT_TRUE(index().is_valid());
  reclaim_all();
  const std::size_t guides_of_a_key = index().is_managed() ? 2 : 0;
  EXPECT_EQ(guides::registered_slots(), guides_before + guides_of_a_key * index().size())
      << "the collector knows the guides where they are now, and no others";
  expect_nothing_left();
}

TEST_P(PlacedTree, WritersReadersAndBothMoversAtOnce) {
  constexpr unsigned kThreads = 3;
  constexpr std::uint64_t kKeys = 400;
#if defined(ISOTHERM_SANITIZED)
  constexpr int kSteps = 8'000;
#else
  constexpr int kSteps = 60'000;
#endif
  std::atomic<unsigned> running{kThreads};
  std::vector<std::jthread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      base::random random(seed_ + t);
      std::vector<std::string> mine(kKeys);  // empty: absent
      for (int i = 0; i < kSteps; ++i) {
        const std::uint64_t k = random.below(kKeys);
        const std::string key = key_of(k) + "#" + std::to_string(t);
        const std::string value = std::to_string(i + 1);
        switch (random.below(5)) {
          case 0:
            ASSERT_EQ(index().erase(key), !mine[k].empty());
            mine[k].clear();
            break;
          case 1:
            ASSERT_EQ(index().upsert(key, value), outcome::done);
            mine[k] = value;
            break;
          case 2: {
            const scope inside;
            int left = 20;
            std::string before;
            index().scan(inside, key, [&](std::string_view found, std::string_view) {
              EXPECT_LT(before, found);
              before = found;
              return --left > 0;
            });
            break;
          }
          default: {
            const scope inside;
            const auto found = index().find(inside, key);
            ASSERT_EQ(found.value_or(""), mine[k]) << key;
          }
        }
      }
      running.fetch_sub(1);
    });
  }
  std::jthread moving_nodes([&] {
    node_mover moves(*tree_.nodes, seed_ + 99);
    while (running.load() > 0) moves.step();
    EXPECT_GT(moves.counts().promoted_nodes + moves.counts().demoted_nodes, 0u);
  });
  if (index().is_managed()) {
    collector::options chosen;
    chosen.policy = collector::policy_name::published;
    chosen.cold_threshold = 1;
    chosen.adaptive_threshold = false;
    collector::object_collector objects(chosen);
    while (running.load() > 0) objects.run_window();
  }
  threads.clear();
  moving_nodes.join();
  EXPECT_TRUE(index().is_valid());
  expect_nothing_left();
}

/// A tree on SINLK, of keys of which some that stand side by side are used.
class SinlkTree : public PlacedTree {
 protected:
  static constexpr std::uint64_t kKeys = 200'000, kHot = 10'000;
  static std::string ordered_key(std::uint64_t i) { return std::to_string(10'000'000 + i); }

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
      const scope inside;
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

const auto kAllKinds = testing::Combine(testing::ValuesIn(placed_names()),
                                        testing::Values(management::off, management::on));
INSTANTIATE_TEST_SUITE_P(All, PlacedTree, kAllKinds, kind_name);
INSTANTIATE_TEST_SUITE_P(All, SinlkTree, kAllKinds, kind_name);

TEST(PlacedTreeNames, AnUnknownOneIsAnErrorThatListsTheOthers) {
  random_placer chooser(1);
  const auto made = make_placed("hash-pugh", management::off, chooser);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "the nodes of no index called 'hash-pugh' can be placed; use one of: btree-occ, art");
}

}  // namespace
}  // namespace isotherm::index
