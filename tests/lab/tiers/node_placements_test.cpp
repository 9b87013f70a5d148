// Placements of nodes, on trees of ten thousand keys that begin in slow memory.
#include "lab/tiers/placements.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "index/index.hpp"
#include "lab/emulation/trees.hpp"
#include "placement/node_memory.hpp"
#include "placement/one_tier.hpp"
#include "sync/retire.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;

base::result<void> no_requests(double) { return {}; }

/// A tree whose nodes all begin in slow memory.
class NodePlacement : public testing::TestWithParam<std::string_view> {
 protected:
  NodePlacement() {
    EXPECT_TRUE(placement::open_node_memory());
    make_tree();
  }
  ~NodePlacement() override { tree_.index.reset(); }  // before its placer
  void make_tree() {
    tree_.index.reset();
    for (int i = 0; i < 8 && sync::retired_blocks() > 0; ++i) sync::reclaim_ready();
    ASSERT_EQ(placement::used_bytes(tier::fast), 0u);
    auto made = make_emulated(GetParam(), slow_);
    ASSERT_TRUE(made);
    tree_ = std::move(*made);
    for (unsigned i = 0; i < 10'000; ++i) {
      tree_.index->insert(std::to_string(100'000 + i), "value");
    }
  }
  void visit(const std::function<void(const placement::visited_leaf&)>& each) {
    const sync::scope inside;
    std::string cursor;
    tree_.nodes->visit_leaves(inside, cursor, [&each](const placement::visited_leaf& leaf) {
      each(leaf);
      return true;
    });
  }
  /// The nodes of the tree by their levels, the root first.
  std::vector<std::set<void*>> levels() {
    std::vector<std::set<void*>> all;
    visit([&all](const placement::visited_leaf& leaf) {
      all.resize(std::max(all.size(), leaf.path.size()));
      for (std::size_t at = 0; at < leaf.path.size(); ++at) all[at].insert(leaf.path[at]);
    });
    return all;
  }
  static std::uint64_t slow_bytes(const std::set<void*>& nodes) {
    std::uint64_t sum = 0;
    for (const void* node : nodes) sum += placement::is_slow(node) ? placement::bytes_of(node) : 0;
    return sum;
  }

  testing_help::one_tier slow_{tier::slow};
  index::placed_index tree_;
};

TEST_P(NodePlacement, LayeredFillsALevelBeforeTheOneBelowIt) {
  const std::size_t depth = levels().size();
  ASSERT_GT(depth, 2u);
  for (std::size_t filled = 0; filled < depth; ++filled) {
    SCOPED_TRACE(filled);
    make_tree();
    const auto before = levels();
    const std::uint64_t bytes = slow_bytes(before[filled]);
    if (bytes == 0) continue;  // the root of a radix tree lies in neither tier
    std::uint64_t bytes_above = 0;
    for (std::size_t at = 0; at < filled; ++at) bytes_above += slow_bytes(before[at]);
    const auto placed = make_placement("layered", {.fast_bytes = bytes_above + bytes / 2});
    ASSERT_TRUE(placed);
    ASSERT_TRUE((*placed)->begin(*tree_.nodes, no_requests));
    const auto after = levels();
    ASSERT_EQ(after.size(), depth);
    for (std::size_t at = 0; at < filled; ++at) EXPECT_EQ(slow_bytes(after[at]), 0u) << at;
    EXPECT_LT(slow_bytes(after[filled]), bytes) << "half of the level fits";
    for (std::size_t at = filled + 1; at < depth; ++at) {
      EXPECT_TRUE(std::ranges::none_of(after[at], placement::is_fast)) << at;
    }
  }
}

TEST_P(NodePlacement, ProphetPlacesTheMostUsedLeavesFirst) {
  unsigned leaves = 0;
  const auto use_the_last_leaves_most = [&](double) -> base::result<void> {
    visit([&leaves](const auto& leaf) { leaf.uses.set(static_cast<std::uint16_t>(++leaves)); });
    return {};
  };
  const auto placed =
      make_placement("prophet", {.fast_bytes = placement::used_bytes(tier::slow) / 2});
  ASSERT_TRUE(placed);
  ASSERT_TRUE((*placed)->begin(*tree_.nodes, use_the_last_leaves_most));
  unsigned least_of_fast = placement::use_count::kMost, most_of_slow = 0;
  visit([&](const auto& leaf) {
    const unsigned uses = leaf.uses.value();
    if (placement::is_fast(leaf.path.back())) {
      least_of_fast = std::min(least_of_fast, uses);
    } else {
      most_of_slow = std::max(most_of_slow, uses);
    }
  });
  EXPECT_LE(least_of_fast, leaves) << "some leaves are fast";
  EXPECT_GT(most_of_slow, 0u) << "some do not fit";
  // A 64th of the visited leaves is promoted at a time, in the order of their keys.
  EXPECT_LT(most_of_slow, least_of_fast + std::max(leaves / 32, 1u));
}

TEST_P(NodePlacement, ProphetLeavesUnusedLeavesInSlowMemory) {
  unsigned leaves = 0, used = 0;
  const auto use_few_leaves = [&](double) -> base::result<void> {
    visit([&](const auto& leaf) {
      const bool is_used = ++leaves % 100 == 50;
      leaf.uses.set(is_used ? 7 : 0);
      used += is_used;
    });
    return {};
  };
  const auto placed =
      make_placement("prophet", {.fast_bytes = 2 * placement::used_bytes(tier::slow)});
  ASSERT_TRUE(placed);
  ASSERT_TRUE((*placed)->begin(*tree_.nodes, use_few_leaves));
  EXPECT_GT(used, 0u);
  unsigned fast = 0, used_and_fast = 0;
  visit([&](const auto& leaf) {
    const bool is_fast = placement::is_fast(leaf.path.back());
    fast += is_fast;
    used_and_fast += is_fast && leaf.uses.value() > 0;
  });
  EXPECT_EQ(used_and_fast, used);
  EXPECT_EQ(fast, used);
}

INSTANTIATE_TEST_SUITE_P(All, NodePlacement, testing::ValuesIn(index::placed_names()),
                         [](const auto& info) {
                           std::string name(info.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace isotherm::lab
