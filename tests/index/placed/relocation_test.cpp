// Single nodes that are asked to move: which move, which are refused, and what they keep.
#include <vector>

#include "index/placed/placed_tree.hpp"
#include "placement/one_tier.hpp"

namespace isotherm::index {
namespace {

using placement::relocated;
using placement::relocation_result;
using placement::tier;

/// A tree of one inner node that can move and the leaves below it: the root of a B+tree, the child
/// of the root of a radix tree.
class Relocation : public placed_tree_test {
 protected:
  ~Relocation() override { tree_.index.reset(); }  // before its placers
  void load(tier where) {
    make_with(where == tier::fast ? fast_ : slow_);
    index().upsert("k", "value");
    for (int i = 0; i < 200; ++i) {
      index().upsert(std::string{'k', static_cast<char>(i)}, "value");
    }
    visit();
    ASSERT_GT(leaves_.size(), 2u);
  }
  /// Finds the nodes where they are now.
  void visit() {
    leaves_.clear();
    counts_.clear();
    std::string cursor;
    nodes().visit_leaves(inside_, cursor, [this](const placement::visited_leaf& leaf) {
      leaves_.push_back(leaf.path.back());
      counts_.push_back(&leaf.uses);
      to_inner_.assign(leaf.path.begin(), leaf.path.end() - 1);
      return true;
    });
  }
  relocated move_inner(tier to) { return nodes().relocate(inside_, to_inner_, to); }
  relocated move_leaf(void* leaf, tier to) {
    std::vector<void*> path = to_inner_;
    path.push_back(leaf);
    return nodes().relocate(inside_, path, to);
  }
  placement::placed_tree& nodes() { return *tree_.nodes; }

  testing_help::one_tier fast_{tier::fast}, slow_{tier::slow};
  const scope inside_;
  std::vector<void*> to_inner_;  // from the root
  std::vector<void*> leaves_;
  std::vector<placement::use_count*> counts_;
};

TEST_P(Relocation, ALeafKeepsItsUseCountWhenItMoves) {
  load(tier::fast);
  counts_[1]->set(1'234);
  void* leaf = leaves_[1];
  for (const tier to : {tier::slow, tier::fast}) {
    const relocated moved = move_leaf(leaf, to);
    ASSERT_EQ(moved.result, relocation_result::done);
    EXPECT_EQ(placement::is_fast(moved.node), to == tier::fast);
    visit();
    EXPECT_EQ(leaves_[1], moved.node);
    EXPECT_EQ(counts_[1]->value(), 1'234u);
    leaf = moved.node;
  }
}

TEST_P(Relocation, ALeafStaysSlowUntilItsParentIsFast) {
  load(tier::slow);
  const std::vector<void*> before = leaves_;
  for (void* leaf : before) {
    EXPECT_EQ(move_leaf(leaf, tier::fast).result, relocation_result::parent_is_slow);
  }
  visit();
  EXPECT_EQ(leaves_, before);
  ASSERT_EQ(move_inner(tier::fast).result, relocation_result::done);
  visit();
  for (void* leaf : before) {
    EXPECT_EQ(move_leaf(leaf, tier::fast).result, relocation_result::done);
  }
  EXPECT_TRUE(index().is_valid());
}

TEST_P(Relocation, AnInnerNodeStaysFastWhileOneChildIs) {
  load(tier::fast);
  void* const before = to_inner_.back();
  EXPECT_EQ(move_inner(tier::slow).result, relocation_result::covers_fast_node) << "all are fast";
  for (void*& leaf : leaves_) leaf = move_leaf(leaf, tier::slow).node;
  for (void* leaf : leaves_) {
    const relocated moved = move_leaf(leaf, tier::fast);
    EXPECT_EQ(move_inner(tier::slow).result, relocation_result::covers_fast_node);
    EXPECT_EQ(move_leaf(moved.node, tier::slow).result, relocation_result::done);
  }
  visit();
  EXPECT_EQ(to_inner_.back(), before);
  EXPECT_EQ(move_inner(tier::slow).result, relocation_result::done);
  EXPECT_TRUE(index().is_valid());
}

TEST_P(Relocation, ANodeThatHasLeftTheTreeDoesNotMove) {
  load(tier::fast);
  ASSERT_EQ(move_leaf(leaves_[0], tier::slow).result, relocation_result::done);
  EXPECT_EQ(move_leaf(leaves_[0], tier::slow).result, relocation_result::changed);
  visit();
  for (void* leaf : leaves_) move_leaf(leaf, tier::slow);
  ASSERT_EQ(move_inner(tier::slow).result, relocation_result::done);
  EXPECT_EQ(move_inner(tier::slow).result, relocation_result::changed);
}

INSTANTIATE_TEST_SUITE_P(All, Relocation, placed_kinds(), kind_name);

}  // namespace
}  // namespace isotherm::index
