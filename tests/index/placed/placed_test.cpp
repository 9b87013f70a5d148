// Trees whose nodes are moved between fast and slow memory: contents, the single-boundary rule,
// what the tiers hold, and, with guides, a collector that moves the objects in between.
#include <map>

#include "collector/collector.hpp"
#include "guide/soda.hpp"
#include "index/placed/placed_tree.hpp"

namespace isotherm::index {
namespace {

class PlacedTree : public placed_tree_test {};

TEST_P(PlacedTree, MatchesAMapWhileNodesMove) {
  base::random random(seed_);
  node_mover moves(*tree_.nodes, seed_ + 1);
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = placed_key(random.below(3'000));
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
        access inside;
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
    access inside;
    index().scan(inside, "", [&](std::string_view key, std::string_view value) {
      return held.emplace(key, value).second;
    });
  }
  EXPECT_EQ(held, expected);
  expect_nothing_left();
}

// In a masstree the layers below a long prefix grow higher than one node, and the links to them
// lead to nodes that were their tops once.
TEST_P(PlacedTree, NodesBelowLongPrefixesMoveToo) {
  constexpr std::uint64_t kKeys = 3'000;
  base::random random(seed_);
  const auto key_of = [](std::uint64_t i) {  // some as long as whole slices
    return i == 0 ? "" : std::string(i % 5 * 4, 'p') + std::to_string(10'000'000 + i);
  };
  node_mover moves(*tree_.nodes, seed_ + 1);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      index().upsert(key_of(random.below(kKeys)), "value");
      if (i % 32 == 0) moves.step();
    }
    reclaim_all();
    ASSERT_TRUE(index().is_valid());
    for (std::uint64_t i = 0; i < 400; ++i) {  // to some hundreds of nodes
      moves.step();
      reclaim_all();
      access inside;
      index().contains(inside, key_of(random.below(kKeys)));
    }
    ASSERT_TRUE(index().is_valid());
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      if (random.below(8) > 0) index().erase(key_of(i));
      if (i % 32 == 0) moves.step();
    }
    ASSERT_TRUE(index().is_valid());
  }
  EXPECT_GT(moves.counts().promoted_nodes, 1'000u);
  expect_nothing_left();
}

// Values that a scope has found stay good while the leaf's guides go to another node and back, and
// a collector moves objects.
TEST_P(PlacedTree, WhatAScopeFoundStaysWhileItsLeafMoves) {
  const std::size_t guides_before = guides::registered_slots();
  for (int i = 0; i < 200; ++i) index().upsert(placed_key(i), std::string(100, 'v'));
  collector::object_collector moving{collector::options{}};
  node_mover moves(*tree_.nodes, seed_);
  for (int round = 0; round < 20; ++round) {
    {
      access inside;
      const auto found = index().find(inside, placed_key(round));
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

INSTANTIATE_TEST_SUITE_P(All, PlacedTree, placed_kinds(), kind_name);

TEST(PlacedTreeNames, AnUnknownOneIsAnErrorThatListsTheOthers) {
  random_placer chooser(1);
  const auto made = make_placed("hash-pugh", management::off, chooser);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "the nodes of no index called 'hash-pugh' can be placed; use one of: btree-occ, art, "
            "masstree");
}

}  // namespace
}  // namespace isotherm::index
