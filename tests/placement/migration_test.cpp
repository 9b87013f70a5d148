// Promotion of paths and Algorithm 1, on a tree that is nothing but nodes.
#include "placement/migration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "placement/node_memory.hpp"

namespace isotherm::placement {
namespace {

/// Named nodes, each with a parent; a node's memory is 64 bytes, in the tier where it lies.
class paper_tree final : public placed_tree {
 public:
  struct node {
    char parent;
    void* memory;
  };

  paper_tree() { EXPECT_TRUE(open_node_memory()); }
  ~paper_tree() override {
    for (auto& [name, each] : nodes_) deallocate_node(each.memory);
  }
  void add(char name, char parent, tier where) {
    nodes_[name] = {parent, allocate_node(where, 64)};
  }
  std::vector<void*> path(char name) const {
    std::vector<void*> found;
    for (char at = name; at != 0; at = nodes_.at(at).parent) {
      found.push_back(nodes_.at(at).memory);
    }
    std::ranges::reverse(found);
    return found;
  }
  /// The names of the nodes in fast memory, in order.
  std::string fast() const {
    std::string names;
    for (const auto& [name, each] : nodes_) {
      if (is_fast(each.memory)) names += name;
    }
    return names;
  }
  const std::string& moved() const { return moved_; }
  void forget(void* memory) { changed_ = memory; }

  bool visit_leaves(const sync::scope&, std::string&, const leaf_visitor&) override {
    return false;
  }
  relocated relocate(const sync::scope&, std::span<void* const> nodes, tier to) override {
    void* const memory = nodes.back();
    const auto found = std::ranges::find_if(
        nodes_, [memory](const auto& each) { return each.second.memory == memory; });
    if (found == nodes_.end() || memory == changed_) return {};
    auto& [name, at] = *found;
    EXPECT_TRUE(std::ranges::equal(nodes, path(name)));
    if (to == tier::fast && nodes.size() > 1 && is_slow(nodes[nodes.size() - 2]))
      return {relocation_result::parent_is_slow};
    for (const auto& [other, each] : nodes_) {
      if (to == tier::slow && each.parent == name && is_fast(each.memory)) {
        return {relocation_result::covers_fast_node};
      }
    }
    deallocate_node(at.memory);
    at.memory = allocate_node(to, 64);
    moved_ += name;
    return {relocation_result::done, at.memory};
  }

 private:
  std::map<char, node> nodes_;
  std::string moved_;
  void* changed_ = nullptr;
};

class Migration : public testing::Test {
 protected:
  /// The tree of figure 10: root, below it R and F, below F the leaves C and D, below R the node E
  /// with the leaves A and B.
  void grow(tier where) {
    tree_.add('r', 0, where);
    tree_.add('R', 'r', where);
    tree_.add('F', 'r', where);
    tree_.add('E', 'R', where);
    for (const char leaf : {'A', 'B'}) tree_.add(leaf, 'E', where);
    for (const char leaf : {'C', 'D'}) tree_.add(leaf, 'F', where);
  }
  static bool always() { return true; }

  const sync::scope inside_;
  paper_tree tree_;
  migration_counts counts_;
  migration batch_{tree_, counts_};
};

TEST_F(Migration, AHotPathIsPromotedFromTheTopDown) {
  grow(tier::slow);
  batch_.queue_promotion(tree_.path('A'));
  batch_.promote(inside_, always);
  EXPECT_EQ(tree_.moved(), "rREA");
  EXPECT_EQ(tree_.fast(), "AERr");
  EXPECT_EQ(counts_.promoted_nodes, 4u);
  EXPECT_EQ(counts_.promoted_bytes, 4 * 64u);
}

TEST_F(Migration, PathsShareTheNodesThatWereMovedForTheFirst) {
  grow(tier::slow);
  for (const char leaf : {'A', 'B', 'C'}) batch_.queue_promotion(tree_.path(leaf));
  batch_.promote(inside_, always);
  EXPECT_EQ(tree_.moved(), "rREABFC");
  EXPECT_EQ(counts_.refused, 0u);
}

TEST_F(Migration, TheUpperPartOfAPathIsPromotedAlone) {
  grow(tier::slow);
  batch_.queue_promotion(tree_.path('A'), 2);
  batch_.queue_promotion(tree_.path('C'), 2);
  EXPECT_EQ(batch_.promotion_bytes(), 3 * 64u);
  batch_.queue_promotion(tree_.path('D'));
  batch_.promote(inside_, always);
  EXPECT_EQ(tree_.moved(), "rRFD");
  EXPECT_EQ(counts_.refused, 0u);
}

TEST_F(Migration, PromotionEndsWhereItIsToldToAndTheRuleHolds) {
  grow(tier::slow);
  for (const char leaf : {'A', 'B'}) batch_.queue_promotion(tree_.path(leaf));
  EXPECT_EQ(batch_.promotion_bytes(), 5 * 64u);
  int left = 2;
  batch_.promote(inside_, [&left] { return left-- > 0; });
  EXPECT_EQ(tree_.fast(), "Rr");
  EXPECT_EQ(batch_.promotion_bytes(), 3 * 64u) << "what waits";
}

// SINLK, figure 10(b): A, B and C are cold, D is not.
TEST_F(Migration, AParentIsDemotedWhenAllItsChildrenHaveBeen) {
  grow(tier::fast);
  for (const char leaf : {'A', 'B', 'C'}) batch_.queue_demotion(tree_.path(leaf));
  batch_.demote(inside_, 0, always);
  EXPECT_EQ(tree_.fast(), "DFr");
  // The leaves first, of which those of F lie higher; then E, then R; r has F.
  EXPECT_EQ(tree_.moved(), "ABCER");
  EXPECT_EQ(counts_.demoted_nodes, 5u);
  EXPECT_EQ(counts_.refused, 0u);
}

TEST_F(Migration, InnerNodesAboveTheDemotionLevelStayAndLeavesDoNot) {
  grow(tier::fast);
  for (const char leaf : {'A', 'B', 'C', 'D'}) batch_.queue_demotion(tree_.path(leaf));
  batch_.demote(inside_, 2, always);
  EXPECT_EQ(tree_.fast(), "FRr");
}

// SINLK, 4.3.4: cold ancestors of slow leaves are not stuck.
TEST_F(Migration, ASlowLeafStandsForItsLowestFastAncestor) {
  grow(tier::fast);
  for (const char leaf : {'A', 'B'}) batch_.queue_demotion(tree_.path(leaf));
  batch_.demote(inside_, 3, always);
  ASSERT_EQ(tree_.fast(), "CDEFRr");
  migration again(tree_, counts_);
  for (const char leaf : {'A', 'B'}) again.queue_demotion(tree_.path(leaf));
  again.demote(inside_, 0, always);
  EXPECT_EQ(tree_.fast(), "CDFr");
}

TEST_F(Migration, DemotionEndsWhereItIsToldTo) {
  grow(tier::fast);
  for (const char leaf : {'A', 'B', 'C', 'D'}) batch_.queue_demotion(tree_.path(leaf));
  int left = 3;
  batch_.demote(inside_, 0, [&left] { return left-- > 0; });
  EXPECT_EQ(counts_.demoted_nodes, 3u);
}

TEST_F(Migration, ANodeThatHasChangedIsLeftAlone) {
  grow(tier::slow);
  batch_.queue_promotion(tree_.path('A'));
  batch_.queue_promotion(tree_.path('C'));
  tree_.forget(tree_.path('E').back());
  batch_.promote(inside_, always);
  EXPECT_EQ(tree_.fast(), "CFRr");
  EXPECT_EQ(counts_.refused, 1u);
}

}  // namespace
}  // namespace isotherm::placement
